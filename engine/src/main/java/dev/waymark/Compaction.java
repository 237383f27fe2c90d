package dev.waymark;

import dev.waymark.error.QuotaExceededException;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.reclaim.ReadSegments;
import dev.waymark.internal.reclaim.SegmentChoice;
import dev.waymark.internal.reclaim.SegmentEmptier;
import dev.waymark.internal.reclaim.StuckSegments;
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

  /** A segment is worth emptying for room if no larger share of it lives. */
  private static final double MOST_LIVE = 0.5;

  private static final double MOST_LIVE_WITH_PUNCHING = 0.25;

  /** Segments that a store may have, as a multiple of how many full ones its quota holds. */
  private static final int MOST_FILES = 3;

  private static final long BACKGROUND_BYTES_PER_SECOND = 64L << 20;

  private final StoreEngine engine;
  private final boolean punching;
  private final SegmentEmptier emptier;

  private long lastMillis;
  private long allowedBytes;
  private volatile long evictedRecency;

  Compaction(StoreEngine engine) {
    this.engine = engine;
    this.punching = engine.directory.traits().canPunch();
    this.emptier =
        new SegmentEmptier(
            engine.publisher,
            engine.forest,
            engine.segments,
            QuotaGate.COPYING,
            engine.drops(),
            engine::dropDamaged,
            engine.counters.copiedBytes::add);
    this.lastMillis = engine.clockMillis.getAsLong();
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
   * @return whether there was one
   */
  boolean emptyBest(boolean anyLiveRatio) {
    for (SegmentChoice choice : choices(anyLiveRatio ? 1 : MOST_LIVE, true)) {
      empty(choice.segmentId(), () -> false);
      if (engine.segments.liveRecords(choice.segmentId()) == 0) {
        return true;
      }
    }
    return false;
  }

  /** In the background: where there are too many files, the emptiest goes. */
  void boundFiles() {
    long now = engine.clockMillis.getAsLong();
    long passed = Math.max(0, Math.min(1_000, now - lastMillis));
    lastMillis = now;
    allowedBytes =
        Math.min(
            BACKGROUND_BYTES_PER_SECOND,
            allowedBytes + passed * BACKGROUND_BYTES_PER_SECOND / 1_000);
    long most =
        MOST_FILES
            * Math.max(
                16, engine.space.gate().quotaBytes() / engine.segments.sizing().segmentBytes());
    if (allowedBytes <= 0 || engine.segments.count() <= most) {
      return;
    }
    List<SegmentChoice> choices = choices(MOST_LIVE_WITH_PUNCHING, true);
    if (!choices.isEmpty()) {
      allowedBytes -= empty(choices.get(0).segmentId(), () -> false).copiedBytes();
    }
  }

  /**
   * Segments that can be emptied.
   *
   * @param mayDrop whether what cannot be copied is dropped, unless it is held
   */
  private List<SegmentChoice> choices(double mostLive, boolean mayDrop) {
    Set<Long> read = engine.publisher.read(() -> ReadSegments.of(engine.forest));
    List<SegmentInfo> infos = engine.segments.infos();
    List<SegmentChoice> choices =
        SegmentChoice.of(
            infos,
            engine.segments.peekSequence(),
            mostLive,
            id -> read.contains(id) || engine.segments.isRead(id));
    if (choices.isEmpty()) {
      return choices;
    }
    Set<Long> stuck =
        engine.publisher.read(
            () -> StuckSegments.of(engine.forest, engine.segments.sizing(), mayDrop));
    return choices.stream().filter(choice -> !stuck.contains(choice.segmentId())).toList();
  }

  private SegmentEmptier.Outcome empty(long segmentId, BooleanSupplier cancelled) {
    long now = engine.segments.peekSequence();
    long coldBefore = evictedRecency + (now - evictedRecency) / 4;
    try {
      return count(
          emptier.empty(
              segmentId,
              (newestUse, bytes) -> bytes <= budgetBytes() && newestUse >= coldBefore,
              cancelled));
    } catch (QuotaExceededException e) {
      // No room for copies: what is not held goes.
      try {
        return count(emptier.empty(segmentId, (newestUse, bytes) -> false, cancelled));
      } catch (QuotaExceededException held) {
        // Nor for what is held: it stays where it is.
        return new SegmentEmptier.Outcome(0, 0);
      }
    }
  }

  private long budgetBytes() {
    double share = punching ? SHARE_WITH_PUNCHING : SHARE_WITHOUT_PUNCHING;
    // The first segment's worth is free, so that a store just opened need not drop what is used.
    return engine.segments.sizing().segmentBytes()
        + (long) (share * engine.counters.recordBytes.sum())
        - engine.counters.copiedBytes.sum();
  }

  private SegmentEmptier.Outcome count(SegmentEmptier.Outcome outcome) {
    engine.counters.evictedBoundaries.add(outcome.droppedBoundaries());
    return outcome;
  }

  /** Gives its buffers back. */
  @Override
  public void close() {
    emptier.close();
  }

  // On request

  /** What compaction would take on, best first. */
  List<SegmentChoice> candidates(double targetLiveRatio) {
    return choices(targetLiveRatio, false);
  }

  /** Copies everything that lives out of a segment, dropping nothing. */
  SegmentEmptier.Outcome copyOut(long segmentId, BooleanSupplier cancelled) {
    return emptier.empty(segmentId, (newestUse, bytes) -> true, cancelled);
  }
}
