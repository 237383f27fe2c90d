package dev.waymark.internal.codec;

/** Whether a codec can hold a tensor, and if not, why not. */
public enum CodecFit {
  /** The codec can hold the tensor. */
  FITS("fits"),
  /**
   * The codec does not know the element type: {@code BF16} takes f32, row codecs f32, bf16, f16.
   */
  DTYPE("the codec does not take this element type"),
  /** The transform needs rows of 2, 4, 8 ... elements. */
  WIDTH_NOT_POWER_OF_TWO("the row is not a power of two wide"),
  /** The row is wider than the transform takes, or than a chunk holds. */
  ROW_TOO_WIDE("the row is too wide"),
  /** A row and its scale would take no fewer bytes than the raw row. */
  NO_GAIN("the encoded row would not be smaller"),
  /** The rows have no elements, so there is nothing to encode. */
  EMPTY_ROW("the row has no elements");

  private final String reason;

  CodecFit(String reason) {
    this.reason = reason;
  }

  /** One clause for a person. */
  public String reason() {
    return reason;
  }
}
