package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import org.junit.jupiter.api.Test;

class BFloat16Test {
  @Test
  void everyFiniteValueSurvives() {
    for (int bits = 0; bits < 0x10000; bits++) {
      float value = BFloat16.decode((short) bits);
      if (Float.isFinite(value) && BFloat16.encode(value) != (short) bits) {
        fail("%s became %s", value, BFloat16.round(value));
      }
    }
  }

  @Test
  void tiesGoToEven() {
    assertThat(BFloat16.encode(Float.intBitsToFloat(0x3F808000))).isEqualTo((short) 0x3F80);
    assertThat(BFloat16.encode(Float.intBitsToFloat(0x3F818000))).isEqualTo((short) 0x3F82);
    assertThat(BFloat16.encode(Float.intBitsToFloat(0x3F808001))).isEqualTo((short) 0x3F81);
    assertThat(BFloat16.encode(Float.intBitsToFloat(0xBF807FFF))).isEqualTo((short) 0xBF80);
  }
}
