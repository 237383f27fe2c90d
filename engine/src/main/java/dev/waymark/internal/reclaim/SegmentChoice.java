package dev.waymark.internal.reclaim;

import dev.waymark.internal.log.SegmentInfo;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * Which segment is worth emptying: by cost and benefit, (1 - u) x age / (1 + u), where u is the
 * share of its bytes that live. Reading it and writing what lives costs 1 + u, and gives 1 - u; the
 * older it is, the longer what comes back stays that way. Pure.
 */
public final class SegmentChoice {
  private SegmentChoice() {}

  /**
   * Candidates, best first.
   *
   * @param nowSequence the sequence that stands for now
   * @param mostLiveRatio none with a larger share of live bytes
   * @param excluded segments that are not to be touched
   */
  public static List<SegmentInfo> of(
      List<SegmentInfo> segments, long nowSequence, double mostLiveRatio, LongPredicate excluded) {
    return segments.stream()
        .filter(info -> info.sealed() && info.liveRecords() > 0)
        .filter(info -> !excluded.test(info.segmentId()))
        .filter(info -> liveRatio(info) <= mostLiveRatio)
        .sorted(
            Comparator.comparingDouble((SegmentInfo info) -> -benefit(info, nowSequence))
                .thenComparingLong(SegmentInfo::segmentId))
        .toList();
  }

  private static double liveRatio(SegmentInfo info) {
    return Math.min(1, (double) info.liveBytes() / Math.max(1, info.allocatedBytes()));
  }

  private static double benefit(SegmentInfo info, long nowSequence) {
    double u = liveRatio(info);
    double age = Math.max(1, nowSequence - info.creationSequence());
    return (1 - u) * age / (1 + u);
  }
}
