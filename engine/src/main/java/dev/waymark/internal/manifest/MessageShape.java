package dev.waymark.internal.manifest;

import dev.waymark.internal.log.Frame;
import dev.waymark.internal.wire.FrameHeaderDecoder;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;

/**
 * The lengths that a message's parts have, so that they are known to lie inside the frame before a
 * generated decoder believes them: those follow a group's entry length of 0, or a text's length
 * beyond the buffer, without a word.
 *
 * <p>A newer version of the schema may have longer blocks and entries, and more after the last part
 * that this version knows; this version's own messages fit to the byte.
 *
 * @param blockLength of the fixed part
 * @param entryLength of the entries of its group, or 0 where it has none
 * @param texts how many texts follow
 */
record MessageShape(int blockLength, int entryLength, int texts) {
  private static final int GROUP_HEADER_BYTES = 4;
  private static final int TEXT_HEADER_BYTES = 4;

  /** A message of a fixed part only. */
  static MessageShape fixed(int blockLength) {
    return new MessageShape(blockLength, 0, 0);
  }

  /** A message with a group. */
  static MessageShape group(int blockLength, int entryLength) {
    return new MessageShape(blockLength, entryLength, 0);
  }

  /** A message with texts. */
  static MessageShape texts(int blockLength, int texts) {
    return new MessageShape(blockLength, 0, texts);
  }

  /** What is wrong with a frame that holds such a message, or null. */
  String violation(DirectBuffer buffer, int index, int frameLengthBytes) {
    boolean newer = Frame.version(buffer, index) > FrameHeaderDecoder.SCHEMA_VERSION;
    int block = Frame.blockLength(buffer, index);
    if (newer ? block < blockLength : block != blockLength) {
      return "a fixed part of " + block + " bytes instead of " + blockLength;
    }
    long at = (long) Frame.HEADER_BYTES + block;
    if (at > frameLengthBytes) {
      return "a fixed part that ends beyond the frame";
    }
    if (entryLength > 0) {
      if (at + GROUP_HEADER_BYTES > frameLengthBytes) {
        return "a group that begins beyond the frame";
      }
      int entry = u16(buffer, index + (int) at);
      int count = u16(buffer, index + (int) at + 2);
      if (newer ? entry < entryLength : entry != entryLength) {
        return "group entries of " + entry + " bytes instead of " + entryLength;
      }
      if (count > EditCodec.MAX_GROUP_ENTRIES) {
        return "a group of " + count + " entries";
      }
      at += GROUP_HEADER_BYTES + (long) entry * count;
      if (at > frameLengthBytes) {
        return "a group of " + count + " entries that ends beyond the frame";
      }
    }
    for (int i = 0; i < texts; i++) {
      if (at + TEXT_HEADER_BYTES > frameLengthBytes) {
        return "a text that begins beyond the frame";
      }
      int length = buffer.getInt(index + (int) at, ByteOrder.LITTLE_ENDIAN);
      at += TEXT_HEADER_BYTES;
      if (length < 0 || length > frameLengthBytes - at) {
        return "a text that ends beyond the frame";
      }
      at += length;
    }
    if (!newer && at != frameLengthBytes) {
      return (frameLengthBytes - at) + " bytes after the end of the message";
    }
    return null;
  }

  private static int u16(DirectBuffer buffer, int index) {
    return buffer.getShort(index, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
  }
}
