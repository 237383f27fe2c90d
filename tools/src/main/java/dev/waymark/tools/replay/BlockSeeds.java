package dev.waymark.tools.replay;

import dev.waymark.layout.BoundaryKey;
import java.util.List;

/** What the state of each block of a prefix is made from: 64 bits of each boundary's key. */
final class BlockSeeds {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final long[] seeds;

  private BlockSeeds(long[] seeds) {
    this.seeds = seeds;
  }

  /** Seeds of the boundaries of a prefix, in order from its first block. */
  static BlockSeeds of(List<BoundaryKey> keys) {
    long[] seeds = new long[keys.size()];
    int block = 0;
    for (BoundaryKey key : keys) {
      // Keys may be the caller's own, so that all four words have to count.
      seeds[block++] =
          mix(key.word0() + mix(key.word1() + mix(key.word2() + mix(key.word3() + GOLDEN))));
    }
    return new BlockSeeds(seeds);
  }

  /** Blocks of the prefix. */
  int blocks() {
    return seeds.length;
  }

  long seed(int block) {
    return seeds[block];
  }

  /** Spreads every bit over all others; no two inputs give the same output. */
  static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Seed of the {@code index}-th of many things under one seed. */
  static long derive(long seed, long index) {
    return mix(seed + index * GOLDEN);
  }
}
