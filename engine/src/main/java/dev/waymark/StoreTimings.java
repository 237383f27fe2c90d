package dev.waymark;

import dev.waymark.internal.watch.Timer;
import dev.waymark.internal.watch.Watch;

/**
 * How long the operations of a store took since it was opened. What failed is not counted.
 *
 * @param append calls that stored blocks, with all that they waited for
 * @param restore from {@link PrefixMatch#restore()} to {@link RestoredState#finish()}, what the
 *     caller did between them included
 * @param force making data and edits durable
 * @param evict dropping chains to make room, at most 1,024 boundaries a time
 * @param reclaim giving dead bytes back to the file system, where there were any
 * @param recover opening the store
 * @param reject refusing: for a quota, a budget, or {@link BackPressure#FAIL}
 */
public record StoreTimings(
    Timing append,
    Timing restore,
    Timing force,
    Timing evict,
    Timing reclaim,
    Timing recover,
    Timing reject) {
  /**
   * Of one kind.
   *
   * @param count how many there were
   * @param totalNanos what they took together
   * @param maxNanos the longest
   * @param p50Nanos half of them took no longer; at most an eighth too high, as is the next
   * @param p99Nanos 99 of 100 took no longer
   */
  public record Timing(long count, long totalNanos, long maxNanos, long p50Nanos, long p99Nanos) {
    private static Timing of(Watch watch, Watch.Kind kind) {
      Timer timer = watch.timer(kind);
      return new Timing(
          timer.count(),
          timer.totalNanos(),
          timer.maxNanos(),
          timer.percentileNanos(50),
          timer.percentileNanos(99));
    }
  }

  static StoreTimings of(Watch watch) {
    return new StoreTimings(
        Timing.of(watch, Watch.Kind.APPEND),
        Timing.of(watch, Watch.Kind.RESTORE),
        Timing.of(watch, Watch.Kind.FORCE),
        Timing.of(watch, Watch.Kind.EVICT),
        Timing.of(watch, Watch.Kind.RECLAIM),
        Timing.of(watch, Watch.Kind.RECOVER),
        Timing.of(watch, Watch.Kind.REJECT));
  }
}
