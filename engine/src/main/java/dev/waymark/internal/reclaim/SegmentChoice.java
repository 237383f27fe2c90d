package dev.waymark.internal.reclaim;

import dev.waymark.internal.log.SegmentInfo;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * Which segment is worth emptying: by cost and benefit, (1 - u) x age / (1 + u), where u is the
 * share of its bytes that live. Reading it and writing what lives costs 1 + u, and gives 1 - u; the
 * older it is, the longer what comes back stays that way. Pure.
 *
 * @param segmentId the segment
 * @param liveBytes what would have to be copied or dropped
 * @param gainBytes what would come back beyond that
 * @param benefit by which candidates are ordered
 */
public record SegmentChoice(long segmentId, long liveBytes, long gainBytes, double benefit) {

  /** The share of the file's bytes that live. */
  public double liveRatio() {
    return (double) liveBytes / Math.max(1, liveBytes + gainBytes);
  }

  /**
   * Candidates, best first.
   *
   * @param nowSequence the sequence that stands for now
   * @param mostLiveRatio none with a larger share of live bytes
   * @param excluded segments that are not to be touched
   */
  public static List<SegmentChoice> of(
      List<SegmentInfo> segments, long nowSequence, double mostLiveRatio, LongPredicate excluded) {
    return segments.stream()
        .filter(info -> info.sealed() && info.liveRecords() > 0)
        .filter(info -> !excluded.test(info.segmentId()))
        .map(info -> choice(info, nowSequence))
        .filter(choice -> choice.liveRatio() <= mostLiveRatio)
        .sorted(
            Comparator.comparingDouble(SegmentChoice::benefit)
                .reversed()
                .thenComparingLong(SegmentChoice::segmentId))
        .toList();
  }

  private static SegmentChoice choice(SegmentInfo info, long nowSequence) {
    long allocated = Math.max(1, info.allocatedBytes());
    double u = Math.min(1, (double) info.liveBytes() / allocated);
    double age = Math.max(1, nowSequence - info.creationSequence());
    return new SegmentChoice(
        info.segmentId(), info.liveBytes(), allocated - info.liveBytes(), (1 - u) * age / (1 + u));
  }
}
