package dev.waymark.internal.codec;

import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;

/**
 * What lossy codecs promise, and what they leave raw so as to keep it. The promise is about the
 * relative L2 error of a chunk: the root of the summed squares of the differences over the root of
 * the summed squares of the raw values.
 */
final class LossyLimits {
  /**
   * A chunk without a value of this magnitude, but not all zero, is stored raw: so near to the
   * least floats the errors would be relative to nothing.
   */
  private static final int TINY_CHUNK_BITS = Float.floatToRawIntBits(0x1p-60f);

  /**
   * A row without a value of this magnitude counts as zero, so that scales never are denormal.
   * Beside a value of 2^-60 elsewhere in the chunk, at most 2^18 such values are an error below
   * 2^-20.
   */
  private static final int TINY_ROW_BITS = Float.floatToRawIntBits(0x1p-90f);

  /**
   * Above this, or not finite, a row's chunk is stored raw, so that no sum overflows when decoding.
   */
  private static final int HUGE_ROW_BITS = Float.floatToRawIntBits(0x1p112f);

  private LossyLimits() {}

  static boolean isTinyChunk(int maxMagnitudeBits) {
    return maxMagnitudeBits != 0 && maxMagnitudeBits < TINY_CHUNK_BITS;
  }

  static boolean isTinyRow(int maxMagnitudeBits) {
    return maxMagnitudeBits < TINY_ROW_BITS;
  }

  static boolean isHugeRow(int maxMagnitudeBits) {
    return maxMagnitudeBits > HUGE_ROW_BITS;
  }

  /** The largest relative L2 error of a decoded chunk; 0 for lossless codecs. */
  static double maxRelativeL2(Codec codec, DType dtype, int rowWidth) {
    return switch (codec) {
      case RAW, PLANES -> 0;
      case BF16 -> 0x1p-8;
      // Half a step an element, 1/254 of the row's largest, which the row's norm is at least.
      case INT8 -> rounded(dtype, 1.0001 * Math.sqrt(rowWidth) / 254);
      case RHT_INT8, RHT_INT16 -> rounded(dtype, transformed(codec));
    };
  }

  /** The largest relative L2 error of a chunk of f32 that a transforming encoder lets pass. */
  static double transformed(Codec codec) {
    return codec == Codec.RHT_INT8 ? 0.01 : 0.00005;
  }

  /**
   * Rounding the decoded value to a narrower type moves it at most as far as the raw value, which
   * is of that type, lies away.
   */
  private static double rounded(DType dtype, double error) {
    return dtype == DType.F32 ? error : 2 * error;
  }
}
