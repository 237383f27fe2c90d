package dev.waymark.internal.log;

/**
 * Where a record stands.
 *
 * @param segmentId the segment
 * @param offsetBytes a multiple of 4 KiB
 * @param lengthBytes from its first byte to the last of its last part; it occupies that, rounded up
 *     to 4 KiB
 */
public record RecordLocation(long segmentId, long offsetBytes, long lengthBytes) {}
