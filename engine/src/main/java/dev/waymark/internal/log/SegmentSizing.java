package dev.waymark.internal.log;

/**
 * How large segments are, and in which steps they grow.
 *
 * @param segmentBytes a segment is no longer, its footer included
 * @param runBytes space that a session claims at a time, and the step in which files grow
 */
public record SegmentSizing(long segmentBytes, long runBytes) {
  /** One page a record, those of header and footer aside, are no more than a footer can list. */
  private static final long MAX_SEGMENT_BYTES = 256L << 20;

  private static final long MAX_RUN_BYTES = 8L << 20;
  private static final long MIN_SEGMENT_BYTES = 256L << 10;

  /** So that a force comes in time however large a boundary is; four fit the largest segment. */
  private static final long MAX_RECORD_BYTES = 60L << 20;

  /** The sizes for a quota. */
  public static SegmentSizing ofQuota(long quotaBytes) {
    long segment =
        Math.max(MIN_SEGMENT_BYTES, Math.min(MAX_SEGMENT_BYTES, quotaBytes / 64))
            & -Alignment.PAGE_BYTES;
    return new SegmentSizing(segment, Math.min(MAX_RUN_BYTES, segment / 4) & -Alignment.PAGE_BYTES);
  }

  /** A record is no larger, its padding included: a segment has room for header and footer too. */
  public long maxRecordBytes() {
    return Math.min(MAX_RECORD_BYTES, roomBytes());
  }

  /** A row of one tensor at one outer position is never cut in two, and may not be larger. */
  public long maxRowBytes() {
    return roomBytes() / 8;
  }

  private long roomBytes() {
    return (segmentBytes - segmentBytes / 8 - 4 * Alignment.PAGE_BYTES) & -Alignment.PAGE_BYTES;
  }

  /** A namespace's description may not be larger, since every segment holds it. */
  public long maxDescriptorBytes() {
    return segmentBytes / 16;
  }
}
