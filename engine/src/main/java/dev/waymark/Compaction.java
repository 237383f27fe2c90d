package dev.waymark;

import dev.waymark.error.QuotaExceededException;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.reclaim.ReadSegments;
import dev.waymark.internal.reclaim.SegmentChoice;
import dev.waymark.internal.reclaim.SegmentEmptier;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Empties segments whose bytes are mostly dead, where punching does not bring them back, and where
 * there are too many files.
 *
 * <p>Invariants: what was copied since the store was opened stays below a share of what was written
 * the first time, but for what someone asks for, or holds; the background copies no faster than so
 * many bytes a second.
 */
final class Compaction implements AutoCloseable {
  /** Copies for each byte written: so that both together stay below 1.5, and below 1.1. */
  private static final double SHARE_WITHOUT_PUNCHING = 0.4;

  private static final double SHARE_WITH_PUNCHING = 0.08;

  /** A segment is worth emptying for room if more than this part of it comes back. */
  private static final int LEAST_GAIN = 16;

  /** A segment is worth emptying for room if no larger share of it lives. */
  private static final double MOST_LIVE = 0.5;

  private static final double MOST_LIVE_WITH_PUNCHING = 0.25;

  /** Segments that a store may have, as a multiple of how many full ones its quota holds. */
  private static final int MOST_FILES = 3;

  private final StoreEngine engine;
  private final boolean punching;
  private final SegmentEmptier emptier;

  private final Throttle background;
  private volatile long evictedRecency;

  Compaction(StoreEngine engine) {
    this.engine = engine;
    this.punching = engine.directory.traits().canPunch();
    this.emptier =
        new SegmentEmptier(
            engine.publisher,
            engine.forest,
            engine.segments,
            engine.drops(),
            engine::dropDamaged,
            engine.counters.copiedBytes::add);
    this.background = new Throttle(engine.options.compactionBytesPerSecond(), engine.clockMillis);
  }

  boolean punches() {
    return punching;
  }

  /** What was evicted last had been used then: what was not used for much longer is cold. */
  void evicted(long recency) {
    evictedRecency = Math.max(evictedRecency, recency);
  }

  /**
   * Empties the segment that is most worth it, and can be; the caller makes room, one at a time.
   *
   * @param anyLiveRatio also one that mostly lives: nothing else helped
   * @param beforeSegmentId none from this one on, so that copies are not copied in their turn
   * @return whether there was one
   */
  boolean emptyBest(boolean anyLiveRatio, long beforeSegmentId) {
    for (SegmentInfo choice : choices(anyLiveRatio ? 1 : MOST_LIVE)) {
      if (choice.segmentId() >= beforeSegmentId || !isGain(choice)) {
        continue;
      }
      empty(choice.segmentId());
      if (engine.segments.liveRecords(choice.segmentId()) == 0) {
        return true;
      }
    }
    return false;
  }

  /** What lives is copied with its padding: only what is dead or was never used comes back. */
  private static boolean isGain(SegmentInfo info) {
    return info.deadBytes() + info.reservedBytes() > info.allocatedBytes() / LEAST_GAIN;
  }

  /** In the background: where there are too many files, the emptiest goes. */
  void boundFiles() {
    long most =
        MOST_FILES
            * Math.max(
                16, engine.space.gate().quotaBytes() / engine.segments.sizing().segmentBytes());
    if (background.allowedBytes() <= 0 || engine.segments.count() <= most) {
      return;
    }
    List<SegmentInfo> choices = choices(MOST_LIVE_WITH_PUNCHING);
    if (!choices.isEmpty()) {
      background.spent(empty(choices.get(0).segmentId()));
    }
  }

  /** Segments that can be emptied, best first. */
  private List<SegmentInfo> choices(double mostLive) {
    Set<Long> read = engine.publisher.read(() -> ReadSegments.of(engine.forest));
    return SegmentChoice.of(
        engine.segments.infos(),
        engine.segments.peekSequence(),
        mostLive,
        id -> read.contains(id) || engine.segments.isRead(id));
  }

  /** Copies what is worth it, and drops the rest; returns what was copied. */
  private long empty(long segmentId) {
    long now = engine.segments.peekSequence();
    long coldBefore = evictedRecency + (now - evictedRecency) / 4;
    // A store that is above its quota may have no other way to come below it.
    boolean above = engine.space.gate().isExceeded();
    SegmentEmptier.Emptying emptying =
        emptier.begin(segmentId, above ? SpaceGate.ADOPTED : QuotaGate.COPYING);
    try {
      emptying.proceed(
          (newestUse, bytes) -> bytes <= budgetBytes() && newestUse >= coldBefore, () -> false);
    } catch (QuotaExceededException e) {
      // No room for copies: what is not held goes.
      try {
        emptying.proceed((newestUse, bytes) -> false, () -> false);
      } catch (QuotaExceededException held) {
        // Nor for what is held: it stays where it is.
        return emptying.copiedBytes();
      }
    }
    return emptying.copiedBytes();
  }

  private long budgetBytes() {
    double share = punching ? SHARE_WITH_PUNCHING : SHARE_WITHOUT_PUNCHING;
    // The first segment's worth is free, so that a store just opened need not drop what is used.
    return engine.segments.sizing().segmentBytes()
        + (long) (share * engine.counters.recordBytes.sum())
        - engine.counters.copiedBytes.sum();
  }

  /** Gives its buffers back. */
  @Override
  public void close() {
    emptier.close();
  }

  // On request

  /** What compaction would take on, best first. */
  List<SegmentInfo> candidates(double targetLiveRatio) {
    return choices(targetLiveRatio);
  }

  /** What lives in a segment now, to be copied out of it. */
  SegmentEmptier.Emptying begin(long segmentId) {
    return emptier.begin(segmentId, QuotaGate.COPYING);
  }

  /** Goes on copying everything that lives out of a segment, dropping nothing. */
  void copyOut(SegmentEmptier.Emptying emptying, BooleanSupplier stop) {
    emptying.proceed((newestUse, bytes) -> true, stop);
  }
}
