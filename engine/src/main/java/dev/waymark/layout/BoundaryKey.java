package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * The 256-bit name of a boundary: a hash over its parent's key, its own tokens and extra keys, or
 * the caller's own. The four words hold the 32 bytes in order, each little-endian.
 */
public record BoundaryKey(long word0, long word1, long word2, long word3) {
  /** Bytes a key. */
  public static final int LENGTH_BYTES = 32;

  /**
   * Reads a key from 32 bytes.
   *
   * @param bytes exactly 32 of them
   * @return the key
   */
  public static BoundaryKey of(byte[] bytes) {
    if (bytes.length != LENGTH_BYTES) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a key has the wrong length").expected("32 bytes").found(bytes.length));
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    return new BoundaryKey(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
  }

  /**
   * Reads a key from 64 hex digits.
   *
   * @param hex exactly 64 of them, in either case
   * @return the key
   */
  public static BoundaryKey ofHex(String hex) {
    if (hex.length() != 2 * LENGTH_BYTES) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a key has the wrong length")
              .expected("64 hex digits")
              .found(hex.length()));
    }
    try {
      return of(HexFormat.of().parseHex(hex));
    } catch (IllegalArgumentException e) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a key is not hex").expected("64 hex digits").found("another character"));
    }
  }

  /** {@return the 32 bytes} */
  public byte[] toBytes() {
    return ByteBuffer.allocate(LENGTH_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(word0)
        .putLong(word1)
        .putLong(word2)
        .putLong(word3)
        .array();
  }

  /** {@return all 64 hex digits; for output only where the user asked for whole keys} */
  public String toHex() {
    return HexFormat.of().formatHex(toBytes());
  }

  /** {@return the first 8 hex digits: what messages and listings may show} */
  public String abbreviated() {
    return HexFormat.of().toHexDigits(Integer.reverseBytes((int) word0));
  }

  // Written out: what a record comes with is slow until the second compiler has seen to it.

  @Override
  public final boolean equals(Object other) {
    return other instanceof BoundaryKey key
        && word0 == key.word0
        && word1 == key.word1
        && word2 == key.word2
        && word3 == key.word3;
  }

  @Override
  public final int hashCode() {
    long mixed = ((word0 * 31 + word1) * 31 + word2) * 31 + word3;
    return Long.hashCode(mixed);
  }

  /** The abbreviated form, so that no message holds a whole key by accident. */
  @Override
  public String toString() {
    return abbreviated();
  }
}
