package dev.waymark.internal.log;

import dev.waymark.internal.wire.FrameHeaderDecoder;
import dev.waymark.internal.wire.FrameHeaderEncoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What every header, footer, record and edit is wrapped in: 24 bytes, then an SBE message.
 *
 * <pre>
 *  0  magic        u32  the bytes "WMRK"
 *  4  lengthBytes  u32  of header and message, without the padding that follows
 *  8  checksum     u32  CRC32C of the bytes [12, lengthBytes)
 * 12  fileTag      u32  low 32 bits of the id of the segment or manifest; 0 in CURRENT and STATUS
 * 16  blockLength  u16  SBE's own four fields
 * 18  templateId   u16
 * 20  schemaId     u16
 * 22  version      u16
 * </pre>
 *
 * <p>The checksum is taken where the bytes lie, so buffers given here are private memory and never
 * a map.
 */
public final class Frame {
  /** Bytes before the message. */
  public static final int HEADER_BYTES = FrameHeaderDecoder.ENCODED_LENGTH;

  /** The bytes "WMRK", read as a little-endian number. */
  public static final int MAGIC = 0x4B524D57;

  private static final int LENGTH_OFFSET = FrameHeaderDecoder.lengthBytesEncodingOffset();
  private static final int CHECKSUM_OFFSET = FrameHeaderDecoder.checksumEncodingOffset();
  private static final int TAG_OFFSET = FrameHeaderDecoder.fileTagEncodingOffset();
  private static final int BLOCK_LENGTH_OFFSET = FrameHeaderDecoder.blockLengthEncodingOffset();
  private static final int TEMPLATE_OFFSET = FrameHeaderDecoder.templateIdEncodingOffset();
  private static final int SCHEMA_OFFSET = FrameHeaderDecoder.schemaIdEncodingOffset();
  private static final int VERSION_OFFSET = FrameHeaderDecoder.versionEncodingOffset();
  private static final int COPY_BYTES = 64 * 1024;

  private static final Check EMPTY = new Check(Status.EMPTY, 0, "nothing but zeros");

  private Frame() {}

  /** What stands at a place where a frame may start. */
  public enum Status {
    /** A frame whose checksum matches. Its template may still be unknown. */
    VALID,
    /** Zeros where a header would be: space that was allocated and never written. */
    EMPTY,
    /** A frame may have started here, but what is there ends before it does. */
    TORN,
    /** Bytes that are no frame of this file, or one that was changed. */
    DAMAGED
  }

  /**
   * The outcome of a check.
   *
   * @param status what was found
   * @param lengthBytes the frame's length without padding where it is valid; where it is torn the
   *     length that it claims, or 0; else 0
   * @param reason why it is not valid, or empty
   */
  public record Check(Status status, int lengthBytes, String reason) {
    /** Whether there is a frame to read. */
    public boolean isValid() {
      return status == Status.VALID;
    }
  }

  /**
   * Completes a frame whose message, with SBE's four header fields, is in place: writes magic,
   * length and tag, then the checksum over what follows it.
   */
  public static void seal(MutableDirectBuffer buffer, int index, int lengthBytes, int fileTag) {
    if (lengthBytes < HEADER_BYTES) {
      throw new IllegalArgumentException("a frame of " + lengthBytes + " bytes has no header");
    }
    buffer.boundsCheck(index, lengthBytes);
    buffer.putInt(index, MAGIC, ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(index + LENGTH_OFFSET, lengthBytes, ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(index + TAG_OFFSET, fileTag, ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(
        index + CHECKSUM_OFFSET,
        crc32c(buffer, index + TAG_OFFSET, lengthBytes - TAG_OFFSET),
        ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Judges the bytes at an index. Lengths are compared before anything that they span is read. A
   * newer version of the schema is accepted, since it only adds fields at the end of blocks; the
   * versions in the file's own header say whether it may be read at all. Whether the template is
   * known is left to the caller.
   *
   * @param availableBytes bytes from the index on that hold content of the file
   * @param fileTag what the frame's tag must be
   * @param maxLengthBytes no frame of this file is longer
   */
  public static Check check(
      DirectBuffer buffer, int index, int availableBytes, int fileTag, int maxLengthBytes) {
    int visible = Math.min(availableBytes, HEADER_BYTES);
    buffer.boundsCheck(index, availableBytes);
    if (isZero(buffer, index, visible)) {
      return EMPTY;
    }
    if (availableBytes < HEADER_BYTES) {
      return new Check(
          Status.TORN, 0, "only " + availableBytes + " bytes where a frame's header would be");
    }
    if (buffer.getInt(index, ByteOrder.LITTLE_ENDIAN) != MAGIC) {
      return damaged("no frame starts here");
    }
    int lengthBytes = lengthBytes(buffer, index);
    if (lengthBytes < HEADER_BYTES || lengthBytes > maxLengthBytes) {
      return damaged(
          "a frame's length of "
              + Integer.toUnsignedString(lengthBytes)
              + " is not between "
              + HEADER_BYTES
              + " and "
              + maxLengthBytes);
    }
    if (lengthBytes > availableBytes) {
      return new Check(
          Status.TORN,
          lengthBytes,
          "a frame of " + lengthBytes + " bytes where only " + availableBytes + " are left");
    }
    int tag = fileTag(buffer, index);
    if (tag != fileTag) {
      return damaged(
          "a frame of another file: its tag is "
              + Integer.toUnsignedString(tag)
              + ", not "
              + Integer.toUnsignedString(fileTag));
    }
    if (buffer.getInt(index + CHECKSUM_OFFSET, ByteOrder.LITTLE_ENDIAN)
        != crc32c(buffer, index + TAG_OFFSET, lengthBytes - TAG_OFFSET)) {
      return damaged("a frame's checksum does not match");
    }
    if (u16(buffer, index + SCHEMA_OFFSET) != FrameHeaderDecoder.SCHEMA_ID) {
      return damaged("a frame of schema " + u16(buffer, index + SCHEMA_OFFSET));
    }
    if (version(buffer, index) == 0) {
      return damaged("a frame of schema version 0");
    }
    if (blockLength(buffer, index) > lengthBytes - HEADER_BYTES) {
      return damaged("a frame shorter than its message's fixed part");
    }
    return new Check(Status.VALID, lengthBytes, "");
  }

  /** The length that a header claims, header included, padding not; negative from 2 GiB on. */
  public static int lengthBytes(DirectBuffer buffer, int index) {
    return buffer.getInt(index + LENGTH_OFFSET, ByteOrder.LITTLE_ENDIAN);
  }

  /** The tag of the file that a frame belongs to. */
  public static int fileTag(DirectBuffer buffer, int index) {
    return buffer.getInt(index + TAG_OFFSET, ByteOrder.LITTLE_ENDIAN);
  }

  /** The tag of the file of that id. */
  public static int tagOf(long fileId) {
    return (int) fileId;
  }

  /** Length of the fixed part of the frame's message. */
  public static int blockLength(DirectBuffer buffer, int index) {
    return u16(buffer, index + BLOCK_LENGTH_OFFSET);
  }

  /** Which message the frame holds. */
  public static int templateId(DirectBuffer buffer, int index) {
    return u16(buffer, index + TEMPLATE_OFFSET);
  }

  /** The schema version of who wrote the frame. */
  public static int version(DirectBuffer buffer, int index) {
    return u16(buffer, index + VERSION_OFFSET);
  }

  /** Writes SBE's four header fields; {@link #seal} adds the rest. */
  public static void putMessageHeader(
      MutableDirectBuffer buffer, int index, int blockLength, int templateId) {
    buffer.putShort(index + BLOCK_LENGTH_OFFSET, (short) blockLength, ByteOrder.LITTLE_ENDIAN);
    buffer.putShort(index + TEMPLATE_OFFSET, (short) templateId, ByteOrder.LITTLE_ENDIAN);
    buffer.putShort(
        index + SCHEMA_OFFSET, (short) FrameHeaderEncoder.SCHEMA_ID, ByteOrder.LITTLE_ENDIAN);
    buffer.putShort(
        index + VERSION_OFFSET, (short) FrameHeaderEncoder.SCHEMA_VERSION, ByteOrder.LITTLE_ENDIAN);
  }

  /** The CRC32C of a range of private memory. */
  public static int crc32c(DirectBuffer buffer, int index, int lengthBytes) {
    buffer.boundsCheck(index, lengthBytes);
    CRC32C crc = new CRC32C();
    byte[] array = buffer.byteArray();
    ByteBuffer direct = buffer.byteBuffer();
    if (array != null) {
      crc.update(array, buffer.wrapAdjustment() + index, lengthBytes);
    } else if (direct != null) {
      int from = buffer.wrapAdjustment() + index;
      crc.update(direct.duplicate().limit(from + lengthBytes).position(from));
    } else {
      byte[] copy = new byte[Math.min(COPY_BYTES, lengthBytes)];
      for (int done = 0; done < lengthBytes; done += copy.length) {
        int step = Math.min(copy.length, lengthBytes - done);
        buffer.getBytes(index + done, copy, 0, step);
        crc.update(copy, 0, step);
      }
    }
    return (int) crc.getValue();
  }

  private static boolean isZero(DirectBuffer buffer, int index, int length) {
    for (int i = 0; i < length; i++) {
      if (buffer.getByte(index + i) != 0) {
        return false;
      }
    }
    return true;
  }

  private static int u16(DirectBuffer buffer, int index) {
    return buffer.getShort(index, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
  }

  private static Check damaged(String reason) {
    return new Check(Status.DAMAGED, 0, reason);
  }
}
