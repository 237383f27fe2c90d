package dev.waymark.tools.model;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A fixed vocabulary of single ASCII characters and common English words, each word with the space
 * before it. Text of printable ASCII and newlines survives encoding and decoding unchanged; any
 * other character becomes a question mark. Immutable.
 *
 * <p>Ids: 0 ends a text and decodes to nothing, 1 to 95 are the characters from space to tilde, 96
 * is a newline, and the words follow as far as the vocabulary reaches.
 */
public final class ToyTokenizer {
  /** The id that ends a text. */
  public static final int END = 0;

  private static final int FIRST_WORD = 97;
  private static final int NEWLINE = 96;

  private final List<String> pieces;
  private final Map<String, Integer> ids = new HashMap<>();

  /** Length of the longest piece that begins with a character. */
  private final int[] longest = new int['~' + 1];

  /**
   * The first {@code vocab} pieces; every tokenizer agrees with every larger one about their ids.
   *
   * @param vocab number of ids, at least 97 and at most {@link #maxVocab}
   */
  public ToyTokenizer(int vocab) {
    if (vocab < FIRST_WORD || vocab > maxVocab()) {
      throw new IllegalArgumentException(
          "a vocabulary has %d to %d pieces, not %d".formatted(FIRST_WORD, maxVocab(), vocab));
    }
    String[] all = new String[vocab];
    all[END] = "";
    for (int id = 1; id < NEWLINE; id++) {
      all[id] = String.valueOf((char) (' ' + id - 1));
    }
    all[NEWLINE] = "\n";
    for (int id = FIRST_WORD; id < vocab; id++) {
      all[id] = " " + ToyWords.ALL.get(id - FIRST_WORD);
    }
    this.pieces = List.of(all);
    for (int id = 1; id < vocab; id++) {
      ids.put(all[id], id);
      char first = all[id].charAt(0);
      longest[first] = Math.max(longest[first], all[id].length());
    }
  }

  /** Pieces there are in all. */
  public static int maxVocab() {
    return FIRST_WORD + ToyWords.ALL.size();
  }

  /** Number of ids. */
  public int vocab() {
    return pieces.size();
  }

  /**
   * The ids of a text, always taking the longest piece that fits. Hence the ids of a text that is
   * cut at a piece are the first ids of the whole text.
   */
  public int[] encode(String text) {
    int[] out = new int[text.length()];
    int n = 0;
    for (int at = 0; at < text.length(); ) {
      char first = text.charAt(at);
      int most = first < longest.length ? Math.max(1, longest[first]) : 1;
      int length = Math.min(most, text.length() - at);
      while (length > 1 && !ids.containsKey(text.substring(at, at + length))) {
        length--;
      }
      out[n++] = ids.getOrDefault(text.substring(at, at + length), ids.get("?"));
      at += length;
    }
    return Arrays.copyOf(out, n);
  }

  /** The text of some ids. */
  public String decode(int... tokens) {
    StringBuilder text = new StringBuilder();
    for (int token : tokens) {
      text.append(pieces.get(token));
    }
    return text.toString();
  }
}
