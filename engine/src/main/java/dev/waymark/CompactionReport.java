package dev.waymark;

import java.util.List;

/**
 * What compaction did, or would do.
 *
 * @param candidates segments that were worth emptying, best first
 * @param emptiedSegments how many of them were emptied
 * @param copiedBytes whole pages of the records that were copied
 * @param freedBytes by how much less is occupied; what is allocated ahead of writers is not counted
 */
public record CompactionReport(
    List<Candidate> candidates, int emptiedSegments, long copiedBytes, long freedBytes) {
  /**
   * A segment, in the words of {@link StoreInspector.SegmentReport}, by the store's own account;
   * the file system's may have a page more, for where the holes are.
   *
   * @param liveBytes records that boundaries and points need
   * @param deadBytes records that nothing needs
   * @param allocatedBytes what its file occupies
   * @param copyBytes whole pages that would be copied
   */
  public record Candidate(
      long segmentId,
      String file,
      long liveBytes,
      long deadBytes,
      long allocatedBytes,
      long copyBytes) {
    /** {@return the share of its allocated bytes that lives, 0 to 1} */
    public double liveRatio() {
      return Math.min(1, (double) liveBytes / Math.max(1, allocatedBytes));
    }

    /** {@return bytes that would come back: what its file occupies, less what is copied} */
    public long gainBytes() {
      return allocatedBytes - copyBytes;
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

    /**
     * Asked before each record, and while compaction waits for its rate.
     *
     * @return whether to stop now; never, unless overridden
     */
    default boolean isCancelled() {
      return false;
    }
  }
}
