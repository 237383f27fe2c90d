package dev.waymark;

import java.util.List;

/**
 * What compaction did, or would do.
 *
 * @param candidates segments that were worth emptying, best first
 * @param emptiedSegments how many of them were emptied
 * @param copiedBytes whole pages of the records that were copied
 * @param freedBytes by how much less is allocated
 */
public record CompactionReport(
    List<Candidate> candidates, int emptiedSegments, long copiedBytes, long freedBytes) {
  /**
   * A segment.
   *
   * @param liveBytes whole pages that would be copied
   * @param gainBytes bytes that would come back
   */
  public record Candidate(long segmentId, long liveBytes, long gainBytes) {
    /** {@return the share of its bytes that lives} */
    public double liveRatio() {
      return (double) liveBytes / Math.max(1, liveBytes + gainBytes);
    }
  }

  /** Told of each segment that was emptied. */
  public interface Progress {
    /**
     * One more.
     *
     * @param done segments emptied so far
     * @param of segments that are to be emptied
     * @param copiedBytes bytes copied so far
     * @return whether to go on
     */
    boolean emptied(int done, int of, long copiedBytes);
  }
}
