package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class FloatKernelsTest {
  @Test
  void expIsCloseWhereTheModelUsesIt() {
    for (float x = -32f; x <= 32f; x += 0.1f) {
      assertThat(FloatKernels.exp(x) / Math.exp(x)).as("%s", x).isCloseTo(1.0, within(2e-5));
    }
  }

  @Test
  void farOutGatesSaturate() {
    assertThat(FloatKernels.sigmoid(80f)).isCloseTo(1f, within(1e-6f));
    assertThat(FloatKernels.sigmoid(-80f)).isBetween(0f, 1e-30f);
  }
}
