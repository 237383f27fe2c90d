package dev.waymark.internal.manifest;

import dev.waymark.internal.log.Frame;
import dev.waymark.internal.wire.BatchMarkDecoder;
import dev.waymark.internal.wire.BatchMarkEncoder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Ends a batch of edits.
 *
 * @param offsetBytes where the mark itself stands, so that bytes of a text never pass for one
 * @param durableLengthBytes what a force had covered before the mark was made; never more
 * @param editCount frames of the batch before the mark
 */
record BatchMark(long offsetBytes, long durableLengthBytes, long editCount) {
  /** A batch ends with the edit that reaches this, which bounds what a reader holds back. */
  static final int BATCH_BYTES = 1 << 20;

  /** A later version's marks may be longer than this version's, but not by more. */
  static final int MAX_FRAME_BYTES = 1024;

  /** Bytes of the frame; a multiple of the alignment. */
  static final int FRAME_BYTES = Frame.HEADER_BYTES + BatchMarkEncoder.BLOCK_LENGTH;

  private static final MessageShape SHAPE = MessageShape.fixed(BatchMarkDecoder.BLOCK_LENGTH);

  /** Whether it says that all before it was durable, which only a clean close has to say. */
  boolean closes() {
    return editCount == 0 && durableLengthBytes == offsetBytes;
  }

  /** Writes the frame. */
  void encode(MutableDirectBuffer buffer, int index, int fileTag) {
    Frame.putMessageHeader(
        buffer, index, BatchMarkEncoder.BLOCK_LENGTH, BatchMarkEncoder.TEMPLATE_ID);
    new BatchMarkEncoder()
        .wrap(buffer, index + Frame.HEADER_BYTES)
        .offsetBytes(offsetBytes)
        .durableLengthBytes(durableLengthBytes)
        .editCount(editCount)
        .reserved(0);
    Frame.seal(buffer, index, FRAME_BYTES, fileTag);
  }

  /** Whether a valid frame is a mark. */
  static boolean isMark(DirectBuffer buffer, int index) {
    return Frame.templateId(buffer, index) == BatchMarkDecoder.TEMPLATE_ID;
  }

  /** Reads a valid frame; null where it is no mark, or one that stands elsewhere than it says. */
  static BatchMark decode(DirectBuffer buffer, int index, int lengthBytes, long offsetBytes) {
    if (!isMark(buffer, index)
        || lengthBytes > MAX_FRAME_BYTES
        || SHAPE.violation(buffer, index, lengthBytes) != null) {
      return null;
    }
    BatchMarkDecoder d =
        new BatchMarkDecoder()
            .wrap(
                buffer,
                index + Frame.HEADER_BYTES,
                Frame.blockLength(buffer, index),
                Frame.version(buffer, index));
    if (d.reserved() != 0
        || d.offsetBytes() != offsetBytes
        || d.durableLengthBytes() < 0
        || d.durableLengthBytes() > offsetBytes) {
      return null;
    }
    return new BatchMark(d.offsetBytes(), d.durableLengthBytes(), d.editCount());
  }
}
