package dev.waymark.internal.codec;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The random signs that a row is multiplied by before the Walsh-Hadamard transform. Part of the
 * format: sign {@code j} is bit {@code j % 64}, from the least significant, of word {@code j / 64};
 * a set bit is minus one. Word {@code w} is output {@code w} (from 0) of SplitMix64 started from
 * {@link #SEED}. The same signs serve rows of every width.
 */
final class SignDiagonal {
  /** The letters {@code WAYMARK1} as a little-endian word. */
  static final long SEED = 0x314B_5241_4D59_4157L;

  private static final long GOLDEN_GAMMA = 0x9E37_79B9_7F4A_7C15L;

  /** Elements of the widest row, and of a block of narrower ones. */
  static final int LENGTH = 4096;

  private static final AtomicReferenceArray<float[]> BY_LOG_OF_WIDTH =
      new AtomicReferenceArray<>(Integer.numberOfTrailingZeros(LENGTH) + 1);

  private SignDiagonal() {}

  /** Sixty-four signs: output {@code index} of SplitMix64 started from {@code seed}. */
  static long word(long seed, int index) {
    long z = seed + (index + 1L) * GOLDEN_GAMMA;
    z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
    return z ^ (z >>> 31);
  }

  /**
   * The signs of rows of that width, one row after another, {@link #LENGTH} in all; not to write.
   */
  static float[] repeated(int rowWidth) {
    int log = Integer.numberOfTrailingZeros(rowWidth);
    float[] signs = BY_LOG_OF_WIDTH.get(log);
    if (signs == null) {
      signs = new float[LENGTH];
      for (int i = 0; i < LENGTH; i++) {
        int j = i % rowWidth;
        signs[i] = ((word(SEED, j / 64) >>> (j % 64)) & 1) == 0 ? 1f : -1f;
      }
      BY_LOG_OF_WIDTH.set(log, signs);
    }
    return signs;
  }
}
