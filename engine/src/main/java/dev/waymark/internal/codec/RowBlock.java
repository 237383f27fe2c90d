package dev.waymark.internal.codec;

import dev.waymark.layout.DType;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Arrays in which a block of rows is worked on, and the element types' ways in and out of f32.
 * Loops are plain and over arrays, so that the compiler vectorises what it can.
 */
final class RowBlock {
  /** Elements of a block of narrow rows: few enough for a core's first cache. */
  static final int BLOCK_ELEMENTS = SignDiagonal.LENGTH;

  /** From here on the bits of a magnitude are those of an infinity or a NaN. */
  static final int NOT_FINITE_BITS = 0x7F80_0000;

  private static final int MAGNITUDE = 0x7FFF_FFFF;
  private static final int F16_EXPONENT = 0x7C00;
  private static final float F16_MAX = 65504f;
  private static final float F16_MIN_NORMAL = 0x1p-14f;

  final float[] values;
  final int[] words;
  final short[] shorts;
  final byte[] bytes;

  /** By how much each element's squared error exceeds what is allowed, in transformed rows. */
  final float[] excess = new float[BLOCK_ELEMENTS];

  RowBlock(int rowWidth) {
    int capacity = Math.max(rowWidth, BLOCK_ELEMENTS);
    values = new float[capacity];
    words = new int[capacity];
    shorts = new short[capacity];
    bytes = new byte[capacity];
  }

  int capacity() {
    return values.length;
  }

  /** Elements of raw bytes to {@link #values}; what is not finite stays not finite. */
  void load(DType dtype, DirectBuffer source, int index, int count) {
    switch (dtype) {
      case F32 -> Memory.load(source, index, 4 * count, values);
      case BF16 -> {
        Memory.load(source, index, 2 * count, shorts);
        widenBf16(shorts, words, count);
        Memory.floats(words, values, count);
      }
      default -> {
        Memory.load(source, index, 2 * count, shorts);
        fromF16(shorts, values, count);
      }
    }
  }

  /** {@link #values} to raw bytes, to the nearest value of the type, ties to even. */
  void store(DType dtype, MutableDirectBuffer target, int index, int count) {
    switch (dtype) {
      case F32 -> Memory.store(values, target, index, 4 * count);
      case BF16 -> {
        Memory.bits(values, words, count);
        roundToBf16(words, shorts, count);
        Memory.store(shorts, target, index, 2 * count);
      }
      default -> {
        toF16(values, shorts, count);
        Memory.store(shorts, target, index, 2 * count);
      }
    }
  }

  /**
   * The largest magnitude, as bits: its order is that of integers, and above it lies what is not
   * finite.
   */
  static int maxMagnitudeBits(int[] bits, int from, int to) {
    // Four at once: one maximum after the other would wait for each.
    int max0 = 0;
    int max1 = 0;
    int max2 = 0;
    int max3 = 0;
    int i = from;
    for (; i < to - 3; i += 4) {
      max0 = Math.max(max0, bits[i] & MAGNITUDE);
      max1 = Math.max(max1, bits[i + 1] & MAGNITUDE);
      max2 = Math.max(max2, bits[i + 2] & MAGNITUDE);
      max3 = Math.max(max3, bits[i + 3] & MAGNITUDE);
    }
    for (; i < to; i++) {
      max0 = Math.max(max0, bits[i] & MAGNITUDE);
    }
    return Math.max(Math.max(max0, max1), Math.max(max2, max3));
  }

  /** Bits of finite f32 below the rounding limit to bf16, ties to even. */
  static void roundToBf16(int[] bits, short[] target, int count) {
    for (int i = 0; i < count; i++) {
      int b = bits[i];
      target[i] = (short) ((b + 0x7FFF + ((b >>> 16) & 1)) >>> 16);
    }
  }

  /** bf16 to bits of f32. */
  static void widenBf16(short[] source, int[] bits, int count) {
    for (int i = 0; i < count; i++) {
      bits[i] = source[i] << 16;
    }
  }

  private static void fromF16(short[] source, float[] target, int count) {
    for (int i = 0; i < count; i++) {
      int h = source[i];
      // The exponent is 112 too small after the shift; multiplying mends it, denormals included.
      float magnitude = Float.intBitsToFloat((h & 0x7FFF) << 13) * 0x1p112f;
      magnitude = (h & F16_EXPONENT) == F16_EXPONENT ? Float.NaN : magnitude;
      target[i] = h < 0 ? -magnitude : magnitude;
    }
  }

  /** Saturates, since an error of the codec could carry a value near the largest to infinity. */
  private static void toF16(float[] source, short[] target, int count) {
    for (int i = 0; i < count; i++) {
      int bits = Float.floatToRawIntBits(source[i]);
      float magnitude = Math.min(Float.intBitsToFloat(bits & MAGNITUDE), F16_MAX);
      int m = Float.floatToRawIntBits(magnitude);
      int rounded =
          magnitude < F16_MIN_NORMAL
              // One half has the spacing of f16's denormals: the sum is rounded to a multiple of
              // it.
              ? Float.floatToRawIntBits(magnitude + 0.5f) - Float.floatToRawIntBits(0.5f)
              : ((m + 0xFFF + ((m >>> 13) & 1)) >>> 13) - (112 << 10);
      target[i] = (short) (rounded | ((bits >>> 16) & 0x8000));
    }
  }
}
