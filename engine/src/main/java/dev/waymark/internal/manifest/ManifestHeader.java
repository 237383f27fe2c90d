package dev.waymark.internal.manifest;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.wire.ManifestHeaderDecoder;
import dev.waymark.internal.wire.ManifestHeaderEncoder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What a manifest says about itself in its first frame.
 *
 * @param storeId the store
 * @param manifestId the number in its name
 * @param createdMillis wall clock, for display only
 * @param versions who may open it
 */
public record ManifestHeader(
    StoreId storeId, long manifestId, long createdMillis, FormatVersions versions) {
  private static final MessageShape SHAPE = MessageShape.fixed(ManifestHeaderDecoder.BLOCK_LENGTH);

  /** Writes the frame; returns its length without padding. */
  int encode(MutableDirectBuffer buffer, int index) {
    Frame.putMessageHeader(
        buffer, index, ManifestHeaderEncoder.BLOCK_LENGTH, ManifestHeaderEncoder.TEMPLATE_ID);
    ManifestHeaderEncoder e = new ManifestHeaderEncoder().wrap(buffer, index + Frame.HEADER_BYTES);
    e.storeId().high(storeId.high()).low(storeId.low());
    e.manifestId(manifestId).createdMillis(createdMillis);
    e.formatVersions().readVersion(versions.readVersion()).writeVersion(versions.writeVersion());
    e.reserved(0);
    int lengthBytes = Frame.HEADER_BYTES + e.encodedLength();
    Frame.seal(buffer, index, lengthBytes, Frame.tagOf(manifestId));
    return lengthBytes;
  }

  /** Reads a valid frame that stands at the beginning of a file. */
  static ManifestHeader decode(DirectBuffer buffer, int index, int lengthBytes, String fileName) {
    if (Frame.templateId(buffer, index) != ManifestHeaderDecoder.TEMPLATE_ID) {
      throw corrupt(fileName, "message " + Frame.templateId(buffer, index));
    }
    String violation = SHAPE.violation(buffer, index, lengthBytes);
    if (violation != null) {
      throw corrupt(fileName, violation);
    }
    ManifestHeaderDecoder d =
        new ManifestHeaderDecoder()
            .wrap(
                buffer,
                index + Frame.HEADER_BYTES,
                Frame.blockLength(buffer, index),
                Frame.version(buffer, index));
    FormatVersions versions =
        new FormatVersions(d.formatVersions().readVersion(), d.formatVersions().writeVersion());
    versions.requireReadable(fileName);
    if (d.reserved() != 0) {
      throw corrupt(fileName, "reserved bytes that are not zero");
    }
    if (!versions.isPossible()) {
      throw corrupt(fileName, versions);
    }
    return new ManifestHeader(
        new StoreId(d.storeId().high(), d.storeId().low()),
        d.manifestId(),
        d.createdMillis(),
        versions);
  }

  private static CorruptionException corrupt(String fileName, Object found) {
    return new CorruptionException(
        ErrorDetail.of("a manifest does not begin with its header").at(fileName, 0).found(found));
  }
}
