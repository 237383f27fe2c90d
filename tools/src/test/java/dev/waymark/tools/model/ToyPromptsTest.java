package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ToyPromptsTest {
  private final ToyTokenizer tokenizer = new ToyTokenizer(512);

  @Test
  void promptsHaveExactlyTheTokensAskedFor() {
    for (int count : new int[] {0, 1, 10, 3000}) {
      assertThat(ToyPrompts.tokens(tokenizer, 1, count)).hasSize(count).doesNotContain(0);
    }
  }

  @Test
  void shortPromptIsAPrefixOfALongOneOfTheSameSeed() {
    assertThat(ToyPrompts.tokens(tokenizer, 1, 500))
        .startsWith(ToyPrompts.tokens(tokenizer, 1, 120))
        .isNotEqualTo(ToyPrompts.tokens(tokenizer, 2, 500));
  }

  @Test
  void textIsMadeOfSentences() {
    assertThat(ToyPrompts.text(1, 400))
        .hasSizeGreaterThanOrEqualTo(400)
        .matches("(?s)([A-Z][a-z, ]+\\.[ \\n]?)+");
  }
}
