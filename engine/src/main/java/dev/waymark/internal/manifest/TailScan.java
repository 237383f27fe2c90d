package dev.waymark.internal.manifest;

import dev.waymark.internal.log.Frame;
import java.nio.ByteOrder;

/**
 * What stands behind the last frame that could be read: bytes that are not zero, and marks that
 * tell how much was durable when they were written. One pass over the rest of the file, which reads
 * nothing but the few bytes of a mark as a frame.
 *
 * @param usedBytes from the end of the content to the last byte that is not zero, or 0
 * @param durableBytes the most that a mark says was durable, or 0
 */
record TailScan(long usedBytes, long durableBytes) {
  private static final int STEP_BYTES = 64 << 10;

  /**
   * Scans.
   *
   * @param position a multiple of the alignment; before it all frames were valid
   * @param contentEnd at or before the position
   */
  static TailScan of(FileWindow window, long position, long contentEnd, int fileTag) {
    long usedEnd = position;
    long durable = 0;
    for (long at = position; at < window.endBytes(); at += STEP_BYTES) {
      int length = (int) Math.min(STEP_BYTES, window.endBytes() - at);
      int reach =
          (int) Math.min((long) STEP_BYTES + BatchMark.MAX_FRAME_BYTES, window.endBytes() - at);
      int index = window.load(at, reach);
      for (int i = 0; i < length; i += EditCodec.ALIGNMENT_BYTES) {
        // Nearly all of it is allocated ahead and zero.
        i += window.zeroBytes(index + i, length - i) & -EditCodec.ALIGNMENT_BYTES;
        if (i >= length) {
          break;
        }
        int word = Math.min(EditCodec.ALIGNMENT_BYTES, length - i);
        for (int b = 0; b < word; b++) {
          if (window.buffer().getByte(index + i + b) != 0) {
            usedEnd = at + i + b + 1;
          }
        }
        durable = Math.max(durable, claimAt(window, index + i, reach - i, at + i, fileTag));
      }
    }
    return new TailScan(usedEnd - contentEnd, durable);
  }

  private static long claimAt(
      FileWindow window, int index, int available, long offset, int fileTag) {
    if (available < BatchMark.FRAME_BYTES
        || window.buffer().getInt(index, ByteOrder.LITTLE_ENDIAN) != Frame.MAGIC
        || !BatchMark.isMark(window.buffer(), index)) {
      return 0;
    }
    Frame.Check check =
        Frame.check(window.buffer(), index, available, fileTag, BatchMark.MAX_FRAME_BYTES);
    if (!check.isValid()) {
      return 0;
    }
    BatchMark mark = BatchMark.decode(window.buffer(), index, check.lengthBytes(), offset);
    return mark == null ? 0 : mark.durableLengthBytes();
  }
}
