package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ToyTokenizerTest {
  private final ToyTokenizer tokenizer = new ToyTokenizer(512);

  @Test
  void textSurvives() {
    String text = "The old river meets a road;  {\"x\": [1, 2]}\nit's ~ there.\n";

    assertThat(tokenizer.decode(tokenizer.encode(text))).isEqualTo(text);
    assertThat(tokenizer.decode(new ToyTokenizer(97).encode(text))).isEqualTo(text);
  }

  @Test
  void wordsAreSingleTokens() {
    assertThat(tokenizer.encode(" river meets stranger")).hasSize(3);
    assertThat(tokenizer.encode("river")).hasSize(5);
  }

  @Test
  void everyIdHasItsOwnPiece() {
    for (int id = 1; id < tokenizer.vocab(); id++) {
      assertThat(tokenizer.encode(tokenizer.decode(id))).containsExactly(id);
    }
    assertThat(tokenizer.decode(ToyTokenizer.END)).isEmpty();
  }

  @Test
  void foreignCharactersBecomeQuestionMarks() {
    assertThat(tokenizer.decode(tokenizer.encode("caf\u00e9\t"))).isEqualTo("caf??");
  }

  @Test
  void textCutAtAPieceHasTheFirstIds() {
    int[] all = tokenizer.encode(ToyPrompts.text(1, 500));
    for (int n = 0; n < all.length; n++) {
      int[] first = Arrays.copyOf(all, n);
      assertThat(tokenizer.encode(tokenizer.decode(first))).isEqualTo(first);
    }
  }

  @Test
  void impossibleVocabulariesAreRefused() {
    assertThatThrownBy(() -> new ToyTokenizer(96)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new ToyTokenizer(ToyTokenizer.maxVocab() + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
