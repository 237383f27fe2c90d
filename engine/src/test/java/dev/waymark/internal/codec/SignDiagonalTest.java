package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SignDiagonalTest {
  /** The published first outputs of SplitMix64 from this seed. */
  @Test
  void isSplitMix64() {
    assertThat(SignDiagonal.word(1_234_567, 0)).isEqualTo(6_457_827_717_110_365_317L);
    assertThat(SignDiagonal.word(1_234_567, 1)).isEqualTo(3_203_168_211_198_807_973L);
    assertThat(Long.toUnsignedString(SignDiagonal.word(1_234_567, 2)))
        .isEqualTo("9817491932198370423");
  }

  @Test
  void wordsOfTheFormatDoNotChange() {
    assertThat(SignDiagonal.SEED).isEqualTo(0x314B52414D594157L);
    assertThat(words(SignDiagonal.SEED))
        .containsExactly(
            "abe49941a2bb77b7", "4085258cf1e0b65f", "03229a4751cfe40e", "d1a3d1518c606514");
    assertThat(words(0))
        .containsExactly(
            "e220a8397b1dcdaf", "6e789e6aa1b965f4", "06c45d188009454f", "e255b237b8bb18fb");
  }

  @Test
  void rowsOfEveryWidthStartAlike() {
    float[] wide = SignDiagonal.repeated(4096, 4096);
    for (int width = 2; width <= 4096; width *= 2) {
      float[] signs = SignDiagonal.repeated(width, 4096);
      for (int i = 0; i < signs.length; i++) {
        assertThat(signs[i]).isEqualTo(wide[i % width]);
      }
    }
    assertThat(wide).containsOnly(1f, -1f);
  }

  private static String[] words(long seed) {
    return new String[] {hex(seed, 0), hex(seed, 1), hex(seed, 2), hex(seed, 63)};
  }

  private static String hex(long seed, int index) {
    return "%016x".formatted(SignDiagonal.word(seed, index));
  }
}
