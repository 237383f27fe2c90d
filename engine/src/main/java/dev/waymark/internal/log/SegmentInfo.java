package dev.waymark.internal.log;

/**
 * One segment as it is accounted for: {@code allocated = live + dead + framing + reserved}.
 *
 * @param liveBytes bytes of live records from their first to their last
 * @param deadBytes whole pages of dead records that did not yet come back
 * @param framingBytes headers, footers, descriptions of namespaces, and padding of live records
 * @param reservedBytes allocated, and held by no record
 */
public record SegmentInfo(
    long segmentId,
    SegmentKind kind,
    long creationSequence,
    String fileName,
    boolean sealed,
    boolean poisoned,
    long lengthBytes,
    long footerOffsetBytes,
    long allocatedBytes,
    long liveRecords,
    long liveBytes,
    long deadBytes,
    long framingBytes,
    long reservedBytes) {}
