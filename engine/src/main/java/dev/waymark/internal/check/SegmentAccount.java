package dev.waymark.internal.check;

import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.Edit;
import java.util.List;

/**
 * One segment, as the manifest and the file system together have it.
 *
 * <p>The manifest says what lives in it and what frames that; the file system says how long the
 * file is and how much of it is allocated. What is allocated beyond is dead, or held by no record.
 *
 * @param info the manifest's part; its length and allocated bytes mean nothing here
 * @param sealed what the manifest says of its end, or null
 * @param descriptors descriptions of namespaces in it
 * @param lengthBytes of the file
 * @param allocatedBytes of the file, by the file system
 * @param framingBytes headers, footer, descriptions of namespaces, padding of live records
 * @param deadBytes no record that lives is there, and it did not come back yet
 * @param reservedBytes allocated ahead of records
 */
public record SegmentAccount(
    SegmentInfo info,
    Edit.SegmentSealed sealed,
    List<SegmentSet.PlacedDescriptor> descriptors,
    long lengthBytes,
    long allocatedBytes,
    long framingBytes,
    long deadBytes,
    long reservedBytes) {

  /** Bytes of records that live and can be there: none where the file is missing. */
  public long liveBytes() {
    return lengthBytes == 0 ? 0 : info.liveBytes();
  }

  /** The account in the words of a store that is open. */
  public SegmentInfo asInfo() {
    return new SegmentInfo(
        info.segmentId(),
        info.kind(),
        info.creationSequence(),
        info.fileName(),
        info.sealed(),
        info.poisoned(),
        lengthBytes,
        info.footerOffsetBytes(),
        allocatedBytes,
        info.liveRecords(),
        liveBytes(),
        deadBytes,
        framingBytes,
        reservedBytes);
  }

  static SegmentAccount of(
      SegmentInfo info,
      Edit.SegmentSealed sealed,
      List<SegmentSet.PlacedDescriptor> descriptors,
      long lengthBytes,
      long allocatedBytes) {
    if (lengthBytes == 0) {
      // Nothing of a missing file is anywhere; that its records are lost is a finding.
      return new SegmentAccount(info, sealed, descriptors, 0, allocatedBytes, 0, 0, 0);
    }
    long framing = info.framingBytes();
    if (sealed != null && sealed.footerOffsetBytes() > 0) {
      framing += sealed.lengthBytes() - sealed.footerOffsetBytes();
    }
    long holes = Math.max(0, lengthBytes - allocatedBytes);
    long rest = Math.max(0, lengthBytes - holes - framing - info.liveBytes());
    // A sealed segment takes no more records. In another, only what the edits since the last
    // checkpoint dropped is known to be dead.
    long dead = sealed != null ? rest : Math.min(rest, info.deadBytes());
    return new SegmentAccount(
        info, sealed, descriptors, lengthBytes, allocatedBytes, framing, dead, rest - dead);
  }

  /** Allocated bytes that the account does not explain; below 0 where live bytes have no blocks. */
  public long unaccountedBytes() {
    return allocatedBytes - liveBytes() - framingBytes - deadBytes - reservedBytes;
  }
}
