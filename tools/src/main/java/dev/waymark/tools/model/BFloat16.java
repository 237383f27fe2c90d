package dev.waymark.tools.model;

/** The upper half of an IEEE float32, kept in a short. */
final class BFloat16 {
  private BFloat16() {}

  /** Rounds to the nearest bf16, ties to even. Finite values only: the model makes no NaN. */
  static short encode(float value) {
    int bits = Float.floatToRawIntBits(value);
    return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
  }

  static float decode(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /** What is left of a value that has been through a bf16 cache. */
  static float round(float value) {
    return decode(encode(value));
  }
}
