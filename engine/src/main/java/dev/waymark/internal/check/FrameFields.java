package dev.waymark.internal.check;

import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.wire.FrameHeaderDecoder;
import dev.waymark.internal.wire.NamespaceRecordDecoder;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.internal.wire.SegmentFooterDecoder;
import dev.waymark.internal.wire.SegmentHeaderDecoder;
import dev.waymark.layout.BoundaryKey;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.agrona.DirectBuffer;

/**
 * The fixed fields of a frame of a segment, each with its place. Shows what stands there, right or
 * wrong: whether the frame is valid is asked elsewhere.
 */
public final class FrameFields {
  /** No frame of a segment is longer. */
  public static final int MOST_BYTES = 64 << 20;

  private final DirectBuffer frame;
  private final long fileOffset;
  private final boolean wholeKeys;
  private final List<Field> fields = new ArrayList<>();
  private final String message;

  /** A field, and where in the file it stands. */
  public record Field(String name, long offsetBytes, int lengthBytes, String value) {}

  /**
   * Reads them.
   *
   * @param frame the frame alone, at least a frame's header
   * @param fileOffset where it stands in its file
   * @param wholeKeys whether to show keys whole; else their first 8 digits
   */
  public FrameFields(DirectBuffer frame, long fileOffset, boolean wholeKeys) {
    this.frame = frame;
    this.fileOffset = fileOffset;
    this.wholeKeys = wholeKeys;
    header();
    this.message = readMessage();
  }

  private void header() {
    text("magic", FrameHeaderDecoder.magicEncodingOffset(), 4, hex(u32(0)));
    number("lengthBytes", FrameHeaderDecoder.lengthBytesEncodingOffset(), 4);
    int checksumAt = FrameHeaderDecoder.checksumEncodingOffset();
    text("checksum", checksumAt, 4, hex(u32(checksumAt)));
    number("fileTag", FrameHeaderDecoder.fileTagEncodingOffset(), 4);
    number("blockLength", FrameHeaderDecoder.blockLengthEncodingOffset(), 2);
    number("templateId", FrameHeaderDecoder.templateIdEncodingOffset(), 2);
    number("schemaId", FrameHeaderDecoder.schemaIdEncodingOffset(), 2);
    number("version", FrameHeaderDecoder.versionEncodingOffset(), 2);
  }

  private String readMessage() {
    int template = Frame.templateId(frame, 0);
    if (template == RecordDecoder.TEMPLATE_ID && has(RecordDecoder.BLOCK_LENGTH)) {
      record();
      return "Record";
    }
    if (template == NamespaceRecordDecoder.TEMPLATE_ID
        && has(NamespaceRecordDecoder.BLOCK_LENGTH)) {
      namespace();
      return "NamespaceRecord";
    }
    if (template == SegmentHeaderDecoder.TEMPLATE_ID && has(SegmentHeaderDecoder.BLOCK_LENGTH)) {
      segmentHeader();
      return "SegmentHeader";
    }
    if (template == SegmentFooterDecoder.TEMPLATE_ID && has(SegmentFooterDecoder.BLOCK_LENGTH)) {
      segmentFooter();
      return "SegmentFooter";
    }
    return "unknown";
  }

  private boolean has(int blockLength) {
    return frame.capacity() >= Frame.HEADER_BYTES + blockLength;
  }

  private void record() {
    in("sequence", RecordDecoder.sequenceEncodingOffset(), 8);
    in("segmentId", RecordDecoder.segmentIdEncodingOffset(), 8);
    in("lengthBytes", RecordDecoder.lengthBytesEncodingOffset(), 8);
    in("tokenFrom", RecordDecoder.tokenFromEncodingOffset(), 8);
    in("tokenTo", RecordDecoder.tokenToEncodingOffset(), 8);
    in("coveredFrom", RecordDecoder.coveredFromEncodingOffset(), 8);
    key("key", RecordDecoder.keyEncodingOffset());
    key("parentKey", RecordDecoder.parentKeyEncodingOffset());
    in("namespaceId", RecordDecoder.namespaceIdEncodingOffset(), 4);
    int kindAt = Frame.HEADER_BYTES + RecordDecoder.kindEncodingOffset();
    RecordKind kind = RecordKind.ofWireCode(frame.getByte(kindAt) & 0xFF);
    named("kind", kindAt, kind == null ? "unknown" : kind.name().toLowerCase(Locale.ROOT));
    in("reserved", RecordDecoder.reservedEncodingOffset(), 1);
    in("pieceIndex", RecordDecoder.pieceIndexEncodingOffset(), 2);
    in("pieceCount", RecordDecoder.pieceCountEncodingOffset(), 2);
    in("reserved2", RecordDecoder.reserved2EncodingOffset(), 2);
  }

  private void namespace() {
    in("sequence", NamespaceRecordDecoder.sequenceEncodingOffset(), 8);
    in("segmentId", NamespaceRecordDecoder.segmentIdEncodingOffset(), 8);
    key("fingerprint", NamespaceRecordDecoder.fingerprintEncodingOffset());
    in("namespaceId", NamespaceRecordDecoder.namespaceIdEncodingOffset(), 4);
    in("reserved", NamespaceRecordDecoder.reservedEncodingOffset(), 4);
  }

  private void segmentHeader() {
    int id = Frame.HEADER_BYTES + SegmentHeaderDecoder.storeIdEncodingOffset();
    text("storeId", id, 16, String.format(Locale.ROOT, "%016x%016x", i64(id), i64(id + 8)));
    in("segmentId", SegmentHeaderDecoder.segmentIdEncodingOffset(), 8);
    in("creationSequence", SegmentHeaderDecoder.creationSequenceEncodingOffset(), 8);
    int versions = SegmentHeaderDecoder.formatVersionsEncodingOffset();
    in("readVersion", versions, 2);
    in("writeVersion", versions + 2, 2);
    int kindAt = Frame.HEADER_BYTES + SegmentHeaderDecoder.kindEncodingOffset();
    SegmentKind kind = SegmentKind.ofWireCode(frame.getByte(kindAt) & 0xFF);
    named("kind", kindAt, kind == null ? "unknown" : kind.name().toLowerCase(Locale.ROOT));
    in("reserved1", SegmentHeaderDecoder.reserved1EncodingOffset(), 1);
    in("reserved2", SegmentHeaderDecoder.reserved2EncodingOffset(), 2);
  }

  private void segmentFooter() {
    in("segmentId", SegmentFooterDecoder.segmentIdEncodingOffset(), 8);
    in("recordsEndBytes", SegmentFooterDecoder.recordsEndBytesEncodingOffset(), 8);
    in("recordCount", SegmentFooterDecoder.recordCountEncodingOffset(), 4);
    in("reserved", SegmentFooterDecoder.reservedEncodingOffset(), 4);
  }

  private void in(String name, int messageOffset, int length) {
    number(name, Frame.HEADER_BYTES + messageOffset, length);
  }

  private void number(String name, int at, int length) {
    long value =
        switch (length) {
          case 1 -> frame.getByte(at) & 0xFF;
          case 2 -> frame.getShort(at, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
          case 4 -> u32(at);
          default -> i64(at);
        };
    text(name, at, length, Long.toString(value));
  }

  private void named(String name, int at, String meaning) {
    text(name, at, 1, (frame.getByte(at) & 0xFF) + " (" + meaning + ")");
  }

  private void key(String name, int messageOffset) {
    int at = Frame.HEADER_BYTES + messageOffset;
    byte[] bytes = new byte[BoundaryKey.LENGTH_BYTES];
    frame.getBytes(at, bytes);
    BoundaryKey key = BoundaryKey.of(bytes);
    text(name, at, BoundaryKey.LENGTH_BYTES, wholeKeys ? key.toHex() : key.abbreviated() + "...");
  }

  private void text(String name, int at, int length, String value) {
    fields.add(new Field(name, fileOffset + at, length, value));
  }

  private long u32(int at) {
    return Integer.toUnsignedLong(frame.getInt(at, ByteOrder.LITTLE_ENDIAN));
  }

  private long i64(int at) {
    return frame.getLong(at, ByteOrder.LITTLE_ENDIAN);
  }

  private static String hex(long value) {
    return String.format(Locale.ROOT, "0x%08x", value);
  }

  /** The fields, in order of offset. */
  public List<Field> list() {
    return List.copyOf(fields);
  }

  /** Which message the frame holds, by the schema's name; {@code unknown} where it is none. */
  public String message() {
    return message;
  }

  /** Whether it is a record's front. */
  public boolean isRecord() {
    return message.equals("Record");
  }

  /** Of a record's front, the record's length. */
  public long recordLengthBytes() {
    return i64(Frame.HEADER_BYTES + RecordDecoder.lengthBytesEncodingOffset());
  }

  /** Of a record's front, its namespace. */
  public int recordNamespaceId() {
    return (int) u32(Frame.HEADER_BYTES + RecordDecoder.namespaceIdEncodingOffset());
  }
}
