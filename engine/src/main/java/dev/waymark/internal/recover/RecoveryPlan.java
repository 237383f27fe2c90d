package dev.waymark.internal.recover;

import java.util.List;

/**
 * What opening a store will do to its files. The edits that go with it have been applied to the
 * loaded state.
 *
 * @param force segments whose content may be only in the page cache
 * @param cuts segments as they will be
 * @param deletes files that nothing names
 * @param findings what was noticed
 * @param sessionsKept sessions that were open and whose boundaries stay
 * @param sessionsDiscarded sessions that were open and took back what only they used
 * @param droppedBoundaries boundaries that went
 * @param droppedPoints points that went
 */
public record RecoveryPlan(
    List<String> force,
    List<Cut> cuts,
    List<String> deletes,
    List<Finding> findings,
    int sessionsKept,
    int sessionsDiscarded,
    int droppedBoundaries,
    int droppedPoints) {

  /**
   * One segment.
   *
   * @param lengthBytes what its file is cut to
   * @param footerOffsetBytes where its footer stands, 0 if it has none
   * @param gaps ranges that nothing names
   * @param punch whether the file has more allocated than it needs
   */
  public record Cut(
      long segmentId,
      String fileName,
      long lengthBytes,
      long footerOffsetBytes,
      boolean shorten,
      List<long[]> gaps,
      boolean punch) {}
}
