package dev.waymark.internal.io;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Shows a range of an Agrona buffer as the {@code ByteBuffer} that a channel wants, uncopied. */
final class BufferViews {
  private BufferViews() {}

  static ByteBuffer ofTarget(MutableDirectBuffer buffer, int index, int length) {
    checkTarget(buffer, index, length);
    return of(buffer, index, length);
  }

  /** Returns the range, or null where it is foreign memory over which no buffer can be made. */
  static ByteBuffer of(DirectBuffer buffer, int index, int length) {
    checkRange(buffer, index, length);
    if (buffer.byteArray() != null) {
      return ByteBuffer.wrap(buffer.byteArray(), buffer.wrapAdjustment() + index, length);
    }
    if (buffer.byteBuffer() != null) {
      int start = buffer.wrapAdjustment() + index;
      return buffer.byteBuffer().duplicate().clear().position(start).limit(start + length);
    }
    return Libc.over(buffer.addressOffset() + index, length);
  }

  /** As {@link #checkRange}, after an expandable buffer was made to grow. */
  static void checkTarget(MutableDirectBuffer buffer, int index, int length) {
    if (buffer.isExpandable() && index >= 0 && length >= 0 && index <= Integer.MAX_VALUE - length) {
      buffer.checkLimit(index + length);
    }
    checkRange(buffer, index, length);
  }

  static void checkRange(DirectBuffer buffer, int index, int length) {
    if (index < 0 || length < 0 || index > buffer.capacity() - length) {
      throw new InvalidArgumentException(
          ErrorDetail.of("A range of a buffer was refused")
              .expected("a range within " + buffer.capacity() + " bytes")
              .found(length + " bytes from " + index));
    }
  }
}
