package dev.waymark.internal.log;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.wire.SegmentHeaderDecoder;
import dev.waymark.internal.wire.SegmentHeaderEncoder;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What a segment says about itself in its first frame. A file of another store, of another number,
 * or of an earlier segment of the same number is not read: all of it has to be what the manifest
 * says.
 *
 * @param storeIdHigh upper 64 bits of the store's id
 * @param storeIdLow lower 64 bits
 * @param segmentId the number in its name
 * @param kind what its records are
 * @param creationSequence from the store's sequence, taken at its creation
 */
public record SegmentHeader(
    long storeIdHigh, long storeIdLow, long segmentId, SegmentKind kind, long creationSequence) {

  /** Bytes from the start of a file that are enough to read its header. */
  public static final int MAX_FRAME_BYTES = Alignment.PAGE_BYTES;

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

  /**
   * Reads the header of the segment of that number.
   *
   * @param page the first bytes of its file, in private memory
   * @throws CorruptionException if there is no valid header
   * @throws dev.waymark.error.UnsupportedFormatException if the segment needs a newer version
   */
  public static SegmentHeader decode(DirectBuffer page, int tag, String fileName) {
    Frame.Check check =
        Frame.check(page, 0, page.capacity(), tag, Math.min(page.capacity(), MAX_FRAME_BYTES));
    if (!check.isValid()) {
      throw corrupt(fileName, check.reason());
    }
    if (Frame.templateId(page, 0) != SegmentHeaderDecoder.TEMPLATE_ID) {
      throw corrupt(fileName, "message " + Frame.templateId(page, 0));
    }
    int block = Frame.blockLength(page, 0);
    boolean newer = Frame.version(page, 0) > SegmentHeaderDecoder.SCHEMA_VERSION;
    boolean exact =
        block == SegmentHeaderDecoder.BLOCK_LENGTH
            && check.lengthBytes() == Frame.HEADER_BYTES + block;
    if (newer ? block < SegmentHeaderDecoder.BLOCK_LENGTH : !exact) {
      throw corrupt(fileName, "a header of another length");
    }
    SegmentHeaderDecoder d =
        new SegmentHeaderDecoder().wrap(page, Frame.HEADER_BYTES, block, Frame.version(page, 0));
    FormatVersions versions =
        new FormatVersions(d.formatVersions().readVersion(), d.formatVersions().writeVersion());
    versions.requireReadable(fileName);
    SegmentKind kind = SegmentKind.ofWireCode(d.kind());
    if (!versions.isPossible()
        || d.reserved1() != 0
        || d.reserved2() != 0
        || kind == null
        || d.segmentId() < 1
        || d.creationSequence() < 0) {
      throw corrupt(fileName, "a header that says what none says");
    }
    return new SegmentHeader(
        d.storeId().high(), d.storeId().low(), d.segmentId(), kind, d.creationSequence());
  }

  /**
   * Reads the header of a segment that has to be this one.
   *
   * @throws CorruptionException if it is another one, or damaged
   */
  public void require(DirectBuffer page, String fileName) {
    SegmentHeader found = decode(page, Frame.tagOf(segmentId), fileName);
    if (!equals(found)) {
      throw corrupt(fileName, "the header of another segment or store");
    }
  }

  private static CorruptionException corrupt(String fileName, Object found) {
    return new CorruptionException(
        ErrorDetail.of("a segment's header is damaged, or of another store")
            .at(fileName, 0)
            .found(found));
  }
}
