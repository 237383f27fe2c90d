package dev.waymark.internal.codec;

/** Why a chunk is stored as it is, although another codec was asked for that takes its tensor. */
public enum RawReason {
  /** Encoding does not make the chunk smaller: noise, or too few bytes. */
  NOT_SMALLER("encoding does not make it smaller"),
  /** The chunk starts or ends inside a row. */
  PARTIAL_ROW("no whole number of rows"),
  /** There is a NaN or an infinity, and no error can be stated beside one. */
  NOT_FINITE("a value is not finite"),
  /** A value is so large that sums would overflow. */
  TOO_LARGE("a value is too large"),
  /** All values are so near to zero that rounding them is no small error. */
  TOO_SMALL("all values are too small"),
  /** The error would be larger than the codec promises. */
  INEXACT("the error would exceed what the codec promises");

  private static final RawReason[] ALL = values();

  private final String text;

  RawReason(String text) {
    this.text = text;
  }

  /** One clause for a person. */
  public String text() {
    return text;
  }

  /** What {@link ChunkCodec#encode} returns for this reason: less than zero. */
  int result() {
    return -1 - ordinal();
  }

  /** The reason behind a result below zero of {@link ChunkCodec#encode}. */
  public static RawReason ofResult(int result) {
    return ALL[-1 - result];
  }
}
