package dev.waymark.layout;

/** How the bytes of a tensor are stored. The wire code is part of the format. */
public enum Codec {
  /** As they are. */
  RAW(0, false),
  /** Lossless: byte planes, each a zstd frame or raw where that is not smaller. */
  PLANES(1, false),
  /** f32 rounded to bf16, to nearest even. */
  BF16(2, true),
  /** One f32 scale and one signed byte an element, a row at a time. */
  INT8(3, true),
  /** As {@link #INT8}, after a randomised Hadamard transform of the row. */
  RHT_INT8(4, true),
  /** As {@link #RHT_INT8}, with 16-bit integers. */
  RHT_INT16(5, true);

  private final int wireCode;
  private final boolean lossy;

  Codec(int wireCode, boolean lossy) {
    this.wireCode = wireCode;
    this.lossy = lossy;
  }

  /** {@return the number that stands for this codec on disk} */
  public int wireCode() {
    return wireCode;
  }

  /** {@return whether decoded bytes may differ from those encoded} */
  public boolean isLossy() {
    return lossy;
  }

  /**
   * {@return the codec of a wire code, or null where there is none}
   *
   * @param wireCode the number on disk
   */
  public static Codec ofWireCode(int wireCode) {
    for (Codec codec : values()) {
      if (codec.wireCode == wireCode) {
        return codec;
      }
    }
    return null;
  }
}
