package dev.waymark.internal.codec;

/**
 * Takes a block of elements apart into byte planes and puts it together again, eight bytes at a
 * time in ordinary 64-bit arithmetic. Plane {@code k} holds byte {@code k}, from the least
 * significant, of each element in order. Invariant: works on whole groups of eight elements; what
 * lies behind the last element is of no account, and is never read from or written to a buffer.
 */
final class PlaneBlock {
  /** Bytes of elements in a block: two of these fit a core's first cache. */
  static final int BLOCK_BYTES = 8192;

  private static final int WORDS = BLOCK_BYTES / Long.BYTES;

  private static final long EVEN_BYTES = 0x00FF00FF00FF00FFL;
  private static final long EVEN_SHORTS = 0x0000FFFF0000FFFFL;
  private static final long LOW_INT = 0x00000000FFFFFFFFL;

  /** The elements, as they stand in memory. */
  final long[] elements = new long[WORDS];

  /**
   * The planes, each from its first byte on; those of index at or above the element size are idle.
   */
  final long[][] planes = new long[Long.BYTES][WORDS];

  /**
   * Turns each element left by one bit. Floats have their sign in the top bit: turned, the top byte
   * of a bf16 or f32 is its exponent, whole, and the sign joins the mantissa, noise to noise.
   */
  void rotateLeft(int elementBytes, int lengthBytes) {
    long[] e = elements;
    int words = words(lengthBytes);
    switch (elementBytes) {
      case 2 -> {
        for (int i = 0; i < words; i++) {
          e[i] = ((e[i] << 1) & 0xFFFEFFFEFFFEFFFEL) | ((e[i] >>> 15) & 0x0001000100010001L);
        }
      }
      case 4 -> {
        for (int i = 0; i < words; i++) {
          e[i] = ((e[i] << 1) & 0xFFFFFFFEFFFFFFFEL) | ((e[i] >>> 31) & 0x0000000100000001L);
        }
      }
      default -> {
        for (int i = 0; i < words; i++) {
          e[i] = (e[i] << 1) | (e[i] >>> 63);
        }
      }
    }
  }

  /** Undoes {@link #rotateLeft}. */
  void rotateRight(int elementBytes, int lengthBytes) {
    long[] e = elements;
    int words = words(lengthBytes);
    switch (elementBytes) {
      case 2 -> {
        for (int i = 0; i < words; i++) {
          e[i] = ((e[i] >>> 1) & 0x7FFF7FFF7FFF7FFFL) | ((e[i] & 0x0001000100010001L) << 15);
        }
      }
      case 4 -> {
        for (int i = 0; i < words; i++) {
          e[i] = ((e[i] >>> 1) & 0x7FFFFFFF7FFFFFFFL) | ((e[i] & 0x0000000100000001L) << 31);
        }
      }
      default -> {
        for (int i = 0; i < words; i++) {
          e[i] = (e[i] >>> 1) | (e[i] << 63);
        }
      }
    }
  }

  /** Elements to planes. */
  void split(int elementBytes, int lengthBytes) {
    int groups = groups(elementBytes, lengthBytes);
    switch (elementBytes) {
      case 2 -> split2(elements, planes[0], planes[1], groups);
      case 4 -> {
        for (int k = 0; k < 4; k++) {
          split4(elements, planes[k], 8 * k, groups);
        }
      }
      default -> split8(elements, planes, groups);
    }
  }

  /** Planes to elements. */
  void join(int elementBytes, int lengthBytes) {
    int groups = groups(elementBytes, lengthBytes);
    switch (elementBytes) {
      case 2 -> join2(elements, planes[0], planes[1], groups);
      case 4 -> join4(elements, planes[0], planes[1], planes[2], planes[3], groups);
      default -> join8(elements, planes, groups);
    }
  }

  private static int words(int lengthBytes) {
    return (lengthBytes + Long.BYTES - 1) / Long.BYTES;
  }

  /** Groups of eight elements, the last one perhaps not full. */
  private static int groups(int elementBytes, int lengthBytes) {
    return (lengthBytes + 8 * elementBytes - 1) / (8 * elementBytes);
  }

  private static void split2(long[] elements, long[] low, long[] high, int groups) {
    for (int i = 0; i < groups; i++) {
      long a = elements[2 * i];
      long b = elements[2 * i + 1];
      low[i] = evenBytes(a) | (evenBytes(b) << 32);
      high[i] = evenBytes(a >>> 8) | (evenBytes(b >>> 8) << 32);
    }
  }

  private static void join2(long[] elements, long[] low, long[] high, int groups) {
    for (int i = 0; i < groups; i++) {
      long l = low[i];
      long h = high[i];
      elements[2 * i] = spreadBytes(l & LOW_INT) | (spreadBytes(h & LOW_INT) << 8);
      elements[2 * i + 1] = spreadBytes(l >>> 32) | (spreadBytes(h >>> 32) << 8);
    }
  }

  private static void split4(long[] elements, long[] plane, int shift, int groups) {
    for (int i = 0; i < groups; i++) {
      long even =
          ((elements[4 * i] >>> shift) & 0x000000FF000000FFL)
              | (((elements[4 * i + 1] >>> shift) & 0x000000FF000000FFL) << 16);
      long odd =
          ((elements[4 * i + 2] >>> shift) & 0x000000FF000000FFL)
              | (((elements[4 * i + 3] >>> shift) & 0x000000FF000000FFL) << 16);
      // Each holds four elements' bytes in the order 0 . 2 . 1 . 3 . and is brought in order here.
      plane[i] = unzip(even) | (unzip(odd) << 32);
    }
  }

  private static void join4(
      long[] elements, long[] plane0, long[] plane1, long[] plane2, long[] plane3, int groups) {
    for (int i = 0; i < groups; i++) {
      long p0 = plane0[i];
      long p1 = plane1[i];
      long p2 = plane2[i];
      long p3 = plane3[i];
      long low = spreadBytes(p0 & LOW_INT) | (spreadBytes(p1 & LOW_INT) << 8);
      long high = spreadBytes(p2 & LOW_INT) | (spreadBytes(p3 & LOW_INT) << 8);
      elements[4 * i] = spreadShorts(low & LOW_INT) | (spreadShorts(high & LOW_INT) << 16);
      elements[4 * i + 1] = spreadShorts(low >>> 32) | (spreadShorts(high >>> 32) << 16);
      low = spreadBytes(p0 >>> 32) | (spreadBytes(p1 >>> 32) << 8);
      high = spreadBytes(p2 >>> 32) | (spreadBytes(p3 >>> 32) << 8);
      elements[4 * i + 2] = spreadShorts(low & LOW_INT) | (spreadShorts(high & LOW_INT) << 16);
      elements[4 * i + 3] = spreadShorts(low >>> 32) | (spreadShorts(high >>> 32) << 16);
    }
  }

  private static void split8(long[] elements, long[][] planes, int groups) {
    for (int i = 0; i < groups; i++) {
      for (int k = 0; k < 8; k++) {
        long plane = 0;
        for (int j = 0; j < 8; j++) {
          plane |= ((elements[8 * i + j] >>> (8 * k)) & 0xFF) << (8 * j);
        }
        planes[k][i] = plane;
      }
    }
  }

  private static void join8(long[] elements, long[][] planes, int groups) {
    for (int i = 0; i < groups; i++) {
      for (int j = 0; j < 8; j++) {
        long element = 0;
        for (int k = 0; k < 8; k++) {
          element |= ((planes[k][i] >>> (8 * j)) & 0xFF) << (8 * k);
        }
        elements[8 * i + j] = element;
      }
    }
  }

  /** The four even bytes, side by side in the low half. */
  private static long evenBytes(long word) {
    long x = word & EVEN_BYTES;
    x = (x | (x >>> 8)) & EVEN_SHORTS;
    return (x | (x >>> 16)) & LOW_INT;
  }

  /** The four bytes of the low half, to the even bytes. */
  private static long spreadBytes(long word) {
    long x = (word | (word << 16)) & EVEN_SHORTS;
    return (x | (x << 8)) & EVEN_BYTES;
  }

  /** The two shorts of the low half, to the even shorts. */
  private static long spreadShorts(long word) {
    return (word | (word << 16)) & EVEN_SHORTS;
  }

  /** Bytes 0, 4, 2, 6 in the order of the low half, those between being zero. */
  private static long unzip(long word) {
    return (word | (word >>> 24)) & LOW_INT;
  }
}
