package dev.waymark;

import dev.waymark.error.QuotaExceededException;
import dev.waymark.internal.reclaim.SegmentEmptier;

/**
 * Copies what lives out of one segment after the other, no faster than it may, until told to stop.
 *
 * <p>Invariants: nothing is held while it waits, so that others make room and the store can be
 * closed meanwhile.
 */
final class PacedCopy {
  /** Between two looks at whether it was told to stop. */
  private static final long PAUSE_MILLIS = 50;

  private final StoreEngine engine;
  private final Waiting waiting;
  private final Throttle throttle;
  private final CompactionReport.Progress progress;
  private long copiedBytes;
  private boolean stopped;

  PacedCopy(StoreEngine engine, Waiting waiting, CompactionReport.Progress progress) {
    this.engine = engine;
    this.waiting = waiting;
    this.throttle = new Throttle(engine.options.compactionBytesPerSecond(), waiting::millis);
    this.progress = progress;
  }

  /** Whole pages that were copied so far. */
  long copiedBytes() {
    return copiedBytes;
  }

  /** Whether it was told to stop before it had emptied a segment. */
  boolean isStopped() {
    return stopped;
  }

  /** Empties a segment; false where it was told to stop, or the quota has no room for a copy. */
  boolean empty(long segmentId) {
    SegmentEmptier.Emptying emptying = engine.using(() -> engine.space.begin(segmentId));
    try {
      while (!emptying.isDone()) {
        if (!awaitTurn()) {
          stopped = true;
          return false;
        }
        step(emptying);
      }
      return true;
    } catch (QuotaExceededException e) {
      return false;
    }
  }

  private boolean awaitTurn() {
    while (!progress.isCancelled()) {
      if (throttle.allowedBytes() > 0) {
        return true;
      }
      if (!waiting.pause(PAUSE_MILLIS)) {
        return false;
      }
    }
    return false;
  }

  private void step(SegmentEmptier.Emptying emptying) {
    long before = emptying.copiedBytes();
    long most = throttle.allowedBytes();
    try {
      engine.using(
          () -> {
            engine.space.copyOut(
                emptying,
                () ->
                    emptying.copiedBytes() - before >= most
                        || progress.isCancelled()
                        || engine.isClosed());
            return null;
          });
    } finally {
      long copied = emptying.copiedBytes() - before;
      throttle.spent(copied);
      copiedBytes += copied;
    }
  }
}
