package dev.waymark.tools.model;

/**
 * Steele, Lea and Flood's SplitMix64, written out here so that weights and prompts never depend on
 * what a JDK's own generators happen to do.
 */
final class SplitMix64 {
  private long state;

  SplitMix64(long seed) {
    this.state = seed;
  }

  long nextLong() {
    state += 0x9E3779B97F4A7C15L;
    long z = state;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Uniform in [0, 1), a multiple of 2^-24 and so exact in a float. */
  float nextFloat() {
    return (nextLong() >>> 40) * 0x1p-24f;
  }

  /** Uniform in [-1, 1). */
  float nextSigned() {
    return 2f * nextFloat() - 1f;
  }

  /** An index in [0, bound); the bias is below bound / 2^31, which prompts do not notice. */
  int nextInt(int bound) {
    return (int) (((nextLong() >>> 33) * bound) >>> 31);
  }
}
