package dev.waymark.internal.codec;

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

  private SignDiagonal() {}

  /** Sixty-four signs: output {@code index} of SplitMix64 started from {@code seed}. */
  static long word(long seed, int index) {
    long z = seed + (index + 1L) * GOLDEN_GAMMA;
    z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
    return z ^ (z >>> 31);
  }

  /** The signs of rows of that width, one row after another, as many as fit {@code length}. */
  static float[] repeated(int rowWidth, int length) {
    float[] signs = new float[length];
    for (int i = 0; i < length; i++) {
      int j = i % rowWidth;
      signs[i] = ((word(SEED, j / 64) >>> (j % 64)) & 1) == 0 ? 1f : -1f;
    }
    return signs;
  }
}
