package dev.waymark.internal.log;

import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.wire.SegmentHeaderDecoder;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What the first page of a segment's file says: which segment it is, whatever the file is called.
 *
 * @param storeIdHigh upper half of the id of the store it belongs to
 * @param storeIdLow lower half of it
 */
public record SegmentHeader(
    long storeIdHigh, long storeIdLow, long segmentId, SegmentKind kind, long creationSequence) {

  /** Reads the header of a file; null where there is no valid one. */
  public static SegmentHeader read(StoreFile file) {
    if (file.lengthBytes() < Alignment.PAGE_BYTES) {
      return null;
    }
    UnsafeBuffer page = new UnsafeBuffer(new byte[Alignment.PAGE_BYTES]);
    file.read(0, page, 0, page.capacity());
    return parse(page);
  }

  /** Reads a header from a file's first page; null where that is not a valid one. */
  public static SegmentHeader parse(DirectBuffer page) {
    int tag = Frame.fileTag(page, 0);
    if (!Frame.check(page, 0, page.capacity(), tag, page.capacity()).isValid()
        || Frame.templateId(page, 0) != SegmentHeaderDecoder.TEMPLATE_ID
        || Frame.blockLength(page, 0) < SegmentHeaderDecoder.BLOCK_LENGTH) {
      return null;
    }
    SegmentHeaderDecoder decoder =
        new SegmentHeaderDecoder()
            .wrap(page, Frame.HEADER_BYTES, Frame.blockLength(page, 0), Frame.version(page, 0));
    SegmentKind kind = SegmentKind.ofWireCode(decoder.kind());
    return kind == null || Frame.tagOf(decoder.segmentId()) != tag
        ? null
        : new SegmentHeader(
            decoder.storeId().high(),
            decoder.storeId().low(),
            decoder.segmentId(),
            kind,
            decoder.creationSequence());
  }

  /** The name that the segment's file has to have. */
  public String fileName() {
    return kind.fileName(segmentId);
  }

  /** Whether the segment belongs to that store. */
  public boolean isOf(long idHigh, long idLow) {
    return storeIdHigh == idHigh && storeIdLow == idLow;
  }
}
