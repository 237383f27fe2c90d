package dev.waymark.tools.model;

import java.util.Arrays;
import java.util.List;

/** Plausible prompts of any length, grown from a small grammar and a seed. */
public final class ToyPrompts {
  private final SplitMix64 random;

  private ToyPrompts(long seed) {
    this.random = new SplitMix64(seed);
  }

  /**
   * Text of sentences, a paragraph every few of them.
   *
   * @param minChars length that the last sentence completes
   */
  public static String text(long seed, int minChars) {
    ToyPrompts prompts = new ToyPrompts(seed);
    StringBuilder text = new StringBuilder();
    while (text.length() < minChars) {
      if (!text.isEmpty()) {
        text.append(prompts.random.nextInt(6) == 0 ? "\n" : " ");
      }
      prompts.sentence(text);
    }
    return text.toString();
  }

  /**
   * Exactly {@code count} tokens of text; fewer tokens of the same seed are a prefix of more, so
   * prompts that share a beginning are easily made.
   */
  public static int[] tokens(ToyTokenizer tokenizer, long seed, int count) {
    int chars = 6 * count;
    int[] ids = tokenizer.encode(text(seed, chars));
    while (ids.length < count) {
      chars *= 2;
      ids = tokenizer.encode(text(seed, chars));
    }
    return Arrays.copyOf(ids, count);
  }

  private void sentence(StringBuilder text) {
    int start = text.length();
    nounPhrase(text);
    text.append(' ').append(pick(ToyWords.VERBS)).append(' ');
    nounPhrase(text);
    if (random.nextInt(2) == 0) {
      text.append(' ').append(pick(ToyWords.PREPOSITIONS)).append(' ');
      nounPhrase(text);
    }
    if (random.nextInt(3) == 0) {
      text.append(", ").append(pick(ToyWords.CONJUNCTIONS)).append(' ');
      nounPhrase(text);
      text.append(' ').append(pick(ToyWords.VERBS)).append(' ');
      text.append(pick(ToyWords.ADVERBS));
    }
    text.append('.');
    text.setCharAt(start, Character.toUpperCase(text.charAt(start)));
  }

  private void nounPhrase(StringBuilder text) {
    text.append(pick(ToyWords.DETERMINERS)).append(' ');
    if (random.nextInt(2) == 0) {
      text.append(pick(ToyWords.ADJECTIVES)).append(' ');
    }
    text.append(pick(ToyWords.NOUNS));
  }

  private String pick(List<String> words) {
    return words.get(random.nextInt(words.size()));
  }
}
