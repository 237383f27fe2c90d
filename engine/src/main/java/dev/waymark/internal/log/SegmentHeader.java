package dev.waymark.internal.log;

import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.wire.SegmentHeaderDecoder;
import dev.waymark.internal.wire.SegmentHeaderEncoder;
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
    return parse(page, file.name());
  }

  /**
   * Reads a header from a file's first page; null where that is not a valid one.
   *
   * @throws dev.waymark.error.UnsupportedFormatException if the segment needs a newer version
   */
  public static SegmentHeader parse(DirectBuffer page, String fileName) {
    int tag = Frame.fileTag(page, 0);
    Frame.Check check = Frame.check(page, 0, page.capacity(), tag, page.capacity());
    int block = Frame.blockLength(page, 0);
    if (!check.isValid()
        || Frame.templateId(page, 0) != SegmentHeaderDecoder.TEMPLATE_ID
        || block < SegmentHeaderDecoder.BLOCK_LENGTH) {
      return null;
    }
    SegmentHeaderDecoder decoder =
        new SegmentHeaderDecoder().wrap(page, Frame.HEADER_BYTES, block, Frame.version(page, 0));
    FormatVersions versions =
        new FormatVersions(
            decoder.formatVersions().readVersion(), decoder.formatVersions().writeVersion());
    versions.requireReadable(fileName);
    boolean fits =
        Frame.version(page, 0) > SegmentHeaderDecoder.SCHEMA_VERSION
            || check.lengthBytes() == Frame.HEADER_BYTES + SegmentHeaderDecoder.BLOCK_LENGTH;
    SegmentKind kind = SegmentKind.ofWireCode(decoder.kind());
    if (!fits
        || !versions.isPossible()
        || decoder.reserved1() != 0
        || decoder.reserved2() != 0
        || kind == null
        || decoder.segmentId() < 1
        || decoder.creationSequence() < 0
        || Frame.tagOf(decoder.segmentId()) != tag) {
      return null;
    }
    return new SegmentHeader(
        decoder.storeId().high(),
        decoder.storeId().low(),
        decoder.segmentId(),
        kind,
        decoder.creationSequence());
  }

  /** The frame, without padding. */
  UnsafeBuffer encode() {
    UnsafeBuffer buffer =
        new UnsafeBuffer(new byte[Frame.HEADER_BYTES + SegmentHeaderEncoder.BLOCK_LENGTH]);
    SegmentHeaderEncoder encoder = new SegmentHeaderEncoder();
    encoder
        .wrap(buffer, Frame.HEADER_BYTES)
        .segmentId(segmentId)
        .creationSequence(creationSequence)
        .kind((short) kind.wireCode());
    encoder.storeId().high(storeIdHigh).low(storeIdLow);
    encoder
        .formatVersions()
        .readVersion(FormatVersions.OWN.readVersion())
        .writeVersion(FormatVersions.OWN.writeVersion());
    Frame.putMessageHeader(
        buffer, 0, SegmentHeaderEncoder.BLOCK_LENGTH, SegmentHeaderEncoder.TEMPLATE_ID);
    Frame.seal(buffer, 0, buffer.capacity(), Frame.tagOf(segmentId));
    return buffer;
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
