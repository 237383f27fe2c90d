package dev.waymark.internal.codec;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import org.agrona.DirectBuffer;

/**
 * Checks that calls stay inside what they were given. Done here and once a call, since buffers can
 * be told not to check, and the loops behind these checks then could not be trusted.
 */
final class Ranges {
  private Ranges() {}

  /** Checks that a chunk is not longer than chunks are. */
  static void checkRawLength(int rawLength, int chunkRawBytes) {
    if (rawLength < 0 || rawLength > chunkRawBytes) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a chunk's raw length is out of range")
              .expected("0 to " + chunkRawBytes)
              .found(rawLength));
    }
  }

  /** Checks that a range lies in a buffer. */
  static void check(DirectBuffer buffer, int index, int length, String what) {
    if (index < 0 || length < 0 || (long) index + length > buffer.capacity()) {
      throw new InvalidArgumentException(
          ErrorDetail.of("the range of a chunk's " + what + " is outside its buffer")
              .expected("0 to " + buffer.capacity())
              .found(index + " and " + length + " bytes more"));
    }
  }

  /** Checks what a stored chunk has to be, for a raw length, where there is only one answer. */
  static void checkStoredLength(int storedLength, long expected) {
    if (storedLength != expected) {
      throw corrupt("a stored chunk has the wrong length", expected, storedLength);
    }
  }

  /** The failure of a stored chunk that no encoder makes. */
  static CorruptionException corrupt(String what, Object expected, Object found) {
    return new CorruptionException(ErrorDetail.of(what).expected(expected).found(found));
  }
}
