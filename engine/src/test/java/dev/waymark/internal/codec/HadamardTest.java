package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HadamardTest {
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096})
  void sameBitsAsOneStepAtATime(int width) {
    float[] values = Samples.normals(new SplittableRandom(width), 3 * width);
    float[] expected = values.clone();
    for (int step = 1; step < width; step *= 2) {
      for (int i = 0; i < expected.length; i++) {
        if ((i & step) == 0) {
          float a = expected[i];
          float b = expected[i + step];
          expected[i] = a + b;
          expected[i + step] = a - b;
        }
      }
    }
    Hadamard.transform(values, values.length, width);
    assertThat(values).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 32, 64, 128})
  void isTheMatrixOfHadamardInNaturalOrder(int width) {
    for (int column = 0; column < width; column++) {
      float[] values = new float[width];
      values[column] = 1;
      Hadamard.transform(values, width, width);
      for (int row = 0; row < width; row++) {
        assertThat(values[row]).isEqualTo(Integer.bitCount(row & column) % 2 == 0 ? 1 : -1);
      }
    }
  }

  @Test
  void leavesWhatLiesBehindAlone() {
    float[] values = new float[64];
    Arrays.fill(values, 1);
    Hadamard.transform(values, 32, 32);
    assertThat(values[0]).isEqualTo(32);
    assertThat(Arrays.copyOfRange(values, 32, 64)).containsOnly(1f);
  }
}
