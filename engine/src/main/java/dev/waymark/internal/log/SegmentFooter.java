package dev.waymark.internal.log;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.wire.GroupSizeEncodingDecoder;
import dev.waymark.internal.wire.SegmentFooterDecoder;
import dev.waymark.internal.wire.SegmentFooterEncoder;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.collections.LongArrayList;
import org.agrona.concurrent.UnsafeBuffer;

/** The last frame of a segment that was sealed: where its records are. */
public final class SegmentFooter {
  private static final int ENTRY_BYTES = SegmentFooterEncoder.RecordsEncoder.sbeBlockLength();
  private static final int ENTRIES_AT =
      Frame.HEADER_BYTES
          + SegmentFooterEncoder.BLOCK_LENGTH
          + GroupSizeEncodingDecoder.ENCODED_LENGTH;

  private SegmentFooter() {}

  /**
   * The frame, without padding.
   *
   * @param written offset and length of each record, one behind the other
   * @param records how many of them are listed
   */
  static UnsafeBuffer encode(
      long segmentId, long recordsEndBytes, LongArrayList written, int records) {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[ENTRIES_AT + records * ENTRY_BYTES]);
    SegmentFooterEncoder encoder = new SegmentFooterEncoder();
    encoder
        .wrap(buffer, Frame.HEADER_BYTES)
        .segmentId(segmentId)
        .recordsEndBytes(recordsEndBytes)
        .recordCount(records);
    SegmentFooterEncoder.RecordsEncoder group = encoder.recordsCount(records);
    for (int i = 0; i < records; i++) {
      group.next().offsetBytes(written.getLong(2 * i)).lengthBytes(written.getLong(2 * i + 1));
    }
    Frame.putMessageHeader(
        buffer, 0, SegmentFooterEncoder.BLOCK_LENGTH, SegmentFooterEncoder.TEMPLATE_ID);
    Frame.seal(buffer, 0, buffer.capacity(), Frame.tagOf(segmentId));
    return buffer;
  }

  /**
   * Checks a valid frame that should be a segment's footer.
   *
   * @param frame exactly that frame
   * @param offsetBytes where it stands
   * @throws CorruptionException if it is another message, or its numbers do not agree
   */
  public static void check(DirectBuffer frame, long segmentId, long offsetBytes, String file) {
    SegmentFooterDecoder d = new SegmentFooterDecoder();
    boolean newer = Frame.version(frame, 0) > SegmentFooterDecoder.SCHEMA_VERSION;
    int block = Frame.blockLength(frame, 0);
    int groupAt = Frame.HEADER_BYTES + block;
    int entriesAt = groupAt + GroupSizeEncodingDecoder.ENCODED_LENGTH;
    boolean right =
        Frame.templateId(frame, 0) == SegmentFooterDecoder.TEMPLATE_ID
            && (newer
                ? block >= SegmentFooterDecoder.BLOCK_LENGTH
                : block == SegmentFooterDecoder.BLOCK_LENGTH)
            && entriesAt <= frame.capacity();
    if (right) {
      int entry = frame.getShort(groupAt, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
      int count = frame.getShort(groupAt + 2, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
      long end = entriesAt + (long) entry * count;
      d.wrap(frame, Frame.HEADER_BYTES, block, Frame.version(frame, 0));
      right =
          (newer ? entry >= ENTRY_BYTES : entry == ENTRY_BYTES)
              && (newer ? end <= frame.capacity() : end == frame.capacity())
              && d.reserved() == 0
              && d.segmentId() == segmentId
              && d.recordsEndBytes() == offsetBytes
              && d.recordCount() == count;
    }
    if (!right) {
      throw new CorruptionException(
          ErrorDetail.of("the footer of a segment does not agree with it").at(file, offsetBytes));
    }
  }
}
