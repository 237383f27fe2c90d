package dev.waymark.tools.replay;

import dev.waymark.layout.DType;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * An endless supply of bytes that look like normally distributed elements of a type, made 8 bytes
 * at a time out of a seed.
 *
 * <p>Drawing normals is far too slow, so a pool of tiles of 256 bytes is drawn once. A group of 256
 * bytes of output is one of them, with one pattern laid over the mantissas of all its elements and
 * one of random bits over their signs: exponents, which alone compress, keep their distribution. In
 * a tile all mantissas differ where the type has as many (all but 8-bit types and booleans do), and
 * one pattern over all of them keeps that: no two elements of a group are equal, so that a shift or
 * a swap inside a group never goes unseen. Signs of 64 elements take 64 random bits, so that two
 * groups differ unless their seeds do not.
 */
final class ElementNoise {
  /** Words of 8 bytes in a group. */
  static final int GROUP_WORDS = 32;

  private static final int GROUP_SHIFT = 5;
  private static final int TILE_BITS = 10;
  private static final Map<DType, ElementNoise> BY_TYPE = new EnumMap<>(DType.class);

  private final long[] tiles;
  private final long mantissaMask;
  private final long laneOnes;
  private final long signMask;

  private ElementNoise(DType type) {
    int bits = 8 * type.sizeBytes();
    int exponentBits = exponentBits(type);
    int mantissaBits = type == DType.BOOL ? 1 : bits - 1 - exponentBits;
    int bias = (1 << Math.max(0, exponentBits - 1)) - 1;
    long ones = 0;
    for (int shift = 0; shift < 64; shift += bits) {
      ones |= 1L << shift;
    }
    laneOnes = ones;
    mantissaMask = (1L << mantissaBits) - 1;
    signMask = type == DType.BOOL ? ones : ones << (bits - 1);
    tiles = new long[GROUP_WORDS << TILE_BITS];
    // Any fixed seed does: every process has to make the same tiles.
    Random random = new Random(type.name().hashCode());
    int elementsPerTile = GROUP_WORDS * 64 / bits;
    for (int tile = 0; tile < tiles.length; tile += GROUP_WORDS) {
      long[] mantissas = mantissas(random, elementsPerTile, mantissaBits);
      for (int i = 0; i < elementsPerTile; i++) {
        long exponent = 0;
        if (exponentBits > 0) {
          int drawn = Math.getExponent(random.nextGaussian()) + bias;
          exponent = Math.max(1, Math.min(drawn, (1 << exponentBits) - 2));
        }
        long element = exponent << mantissaBits | mantissas[i];
        tiles[tile + i * bits / 64] |= element << (i * bits % 64);
      }
    }
  }

  /** The supply of a type; its pool is made when first asked for. */
  static ElementNoise of(DType type) {
    synchronized (BY_TYPE) {
      return BY_TYPE.computeIfAbsent(type, ElementNoise::new);
    }
  }

  /** The number of the group that a word is in. */
  static long groupOf(long word) {
    return word >>> GROUP_SHIFT;
  }

  /** The place of a word in its group. */
  static int withinGroup(long word) {
    return (int) word & (GROUP_WORDS - 1);
  }

  /** The tiles; a group starts at {@link #tileOf} its hash. */
  long[] tiles() {
    return tiles;
  }

  /** Where in {@link #tiles()} the tile of a group stands. */
  int tileOf(long groupHash) {
    return (int) (groupHash >>> (64 - TILE_BITS)) << GROUP_SHIFT;
  }

  /** What is laid over every word of a group: one mantissa pattern for all elements. */
  long overlayOf(long groupHash) {
    return (BlockSeeds.derive(groupHash, 1) & mantissaMask) * laneOnes;
  }

  /** Where the signs are; over word {@code i} lies the group's hash, rotated by {@code i}. */
  long signMask() {
    return signMask;
  }

  /** One word of output; its lowest byte comes first. */
  long word(long stretchSeed, long word) {
    long hash = BlockSeeds.derive(stretchSeed, groupOf(word));
    int within = withinGroup(word);
    return tiles[tileOf(hash) + within]
        ^ overlayOf(hash)
        ^ (Long.rotateLeft(hash, within) & signMask);
  }

  private static int exponentBits(DType type) {
    return switch (type) {
      case BF16, F32 -> 8;
      case F16, F8_E5M2 -> 5;
      case F8_E4M3 -> 4;
      case F64 -> 11;
      default -> 0;
    };
  }

  private static long[] mantissas(Random random, int count, int bits) {
    long[] drawn = new long[count];
    if (bits < 31 && 1 << bits < count) {
      for (int i = 0; i < count; i++) {
        drawn[i] = random.nextInt(1 << bits);
      }
      return drawn;
    }
    if (bits == 7) {
      // Exactly as many as there are values: drawing until they differ would take long.
      for (int i = 0; i < count; i++) {
        int at = random.nextInt(i + 1);
        drawn[i] = drawn[at];
        drawn[at] = i;
      }
      return drawn;
    }
    Set<Long> taken = new HashSet<>();
    for (int i = 0; i < count; i++) {
      do {
        drawn[i] = random.nextLong() >>> (64 - bits);
      } while (!taken.add(drawn[i]));
    }
    return drawn;
  }
}
