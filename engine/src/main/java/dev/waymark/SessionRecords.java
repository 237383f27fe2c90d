package dev.waymark;

import dev.waymark.error.BackPressureException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.Flight;
import dev.waymark.internal.log.PartPlan;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordPlan;
import dev.waymark.internal.log.Run;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.StateViews;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the records of one session, out of the room that was reserved and promised to it. What is
 * written here is not visible before it is published.
 *
 * <p>Invariants: a record is part of the promise until {@link #published} or {@link #discard} has
 * it. Beyond what was reserved, room is made record by record. No more than the store's most is in
 * flight: before it would be, what was written is forced, which makes nothing visible.
 */
final class SessionRecords {
  private static final int ROOM_ROUNDS = 3;

  private final StoreEngine engine;
  private final NamespaceState state;
  private final RecordPlans plans;
  private final QuotaGate.Reservation reservation;
  private final NamespacePromises.Promise promise;
  private final Run rowRun;
  private final Run pointRun;
  private final long mostInFlightBytes;
  private Flight flight;

  SessionRecords(
      StoreEngine engine,
      NamespaceState state,
      QuotaGate.Reservation reservation,
      NamespacePromises.Promise promise) {
    this.engine = engine;
    this.state = state;
    this.plans = new RecordPlans(state, engine.segments.sizing().maxRecordBytes());
    this.reservation = reservation;
    this.promise = promise;
    this.rowRun = new Run(SegmentKind.APPEND, Run.Heat.NEW, reservation);
    this.pointRun = new Run(SegmentKind.DELTA, Run.Heat.NEW, reservation);
    this.mostInFlightBytes = engine.options.maxInFlightBytes();
    this.flight = engine.segments.flight(mostInFlightBytes);
  }

  // What is in flight

  /** From here on each record waits until there is room for it in flight. */
  void takeOffWaiting() {
    flight = engine.segments.flight(mostInFlightBytes);
  }

  /**
   * Takes room in flight for all that an append will write, or none of it.
   *
   * @return whether there was room
   */
  boolean tryTakeOff(long bytes) {
    Flight taken = bytes == 0 ? null : engine.segments.tryTakeOff(bytes, mostInFlightBytes);
    flight = taken == null ? engine.segments.flight(mostInFlightBytes) : taken;
    return bytes == 0 || taken != null;
  }

  /** Gives back what of it was not used. */
  void land() {
    flight.close();
  }

  BackPressureException tooMuchInFlight(long bytes) {
    return new BackPressureException(
        ErrorDetail.of("too many bytes are on their way to the disk")
            .expected("at most " + mostInFlightBytes + " bytes in flight")
            .found(engine.segments.inFlightBytes() + ", and " + bytes + " to append")
            .remedy("append the same again once earlier receipts are durable, or let appends wait"),
        bytes);
  }

  /** Most that the rows of blocks take, from the end of what is stored on. */
  long mostRowBytes(BoundaryKey anyKey, int storedTokens, int to) {
    long bytes = 0;
    int block = state.layout().blockTokens();
    for (int from = storedTokens; from < to; from += block) {
      bytes += mostBytes(plans.append(anyKey, anyKey, from, from + block));
    }
    return bytes;
  }

  /** Most that a point takes. */
  long mostPointBytes(BoundaryKey anyKey, int to, int coveredTo) {
    int from = to - state.layout().blockTokens();
    return mostBytes(plans.delta(anyKey, anyKey, from, to, coveredTo))
        + mostBytes(plans.state(anyKey, anyKey, from, to));
  }

  private static long mostBytes(List<RecordPlan> records) {
    long bytes = 0;
    for (RecordPlan record : records) {
      bytes += record.maxBytes();
    }
    return bytes;
  }

  // Writing

  /** The boundary's own rows. */
  Written writeRows(BoundaryDraft draft, StateViews views) {
    return write(
        plans.append(draft.key(), draft.parentKey(), draft.from(), draft.to()), views, rowRun);
  }

  /** The window rows that the chain does not cover. */
  Written writeDelta(BoundaryDraft draft, StateViews views) {
    return write(
        plans.delta(draft.key(), draft.parentKey(), draft.from(), draft.to(), draft.coveredTo()),
        views,
        pointRun);
  }

  /** The fixed tensors. */
  Written writeState(BoundaryDraft draft, StateViews views) {
    return write(
        plans.state(draft.key(), draft.parentKey(), draft.from(), draft.to()), views, pointRun);
  }

  private Written write(List<RecordPlan> records, StateViews views, Run run) {
    if (records.isEmpty()) {
      return Written.NOTHING;
    }
    requireHeld(records, views);
    List<RecordLocation> locations = new ArrayList<>(records.size());
    long rawBytes = 0;
    try (Scratch scratch = engine.scratches.take()) {
      for (RecordPlan record : records) {
        RecordLocation location = write(record, views, run, scratch);
        engine.counters.recordBytes.add(Alignment.toPage(location.lengthBytes()));
        locations.add(location);
        rawBytes += record.rawBytes();
      }
    } catch (RuntimeException | Error e) {
      discard(new Written(locations, rawBytes));
      throw e;
    }
    return new Written(locations, rawBytes);
  }

  private static void requireHeld(List<RecordPlan> records, StateViews views) {
    for (RecordPlan record : records) {
      for (PartPlan part : record.parts()) {
        PartRange range = part.range();
        ViewChecks.tensor(views, part.spec(), range.rowFrom(), range.rowFrom() + range.rowCount());
      }
    }
  }

  private RecordLocation write(RecordPlan record, StateViews views, Run run, Scratch scratch) {
    long most = Alignment.toPage(record.maxBytes());
    engine.space.take(state, promise, most);
    long unused = most;
    try {
      RecordLocation location = writeInPromise(record, views, run, scratch);
      unused -= Alignment.toPage(location.lengthBytes());
      return location;
    } finally {
      giveBack(unused);
    }
  }

  private void giveBack(long bytes) {
    if (bytes > 0) {
      engine.publisher.write(
          () -> {
            promise.giveBack(bytes);
            return null;
          });
    }
  }

  private RecordLocation writeInPromise(
      RecordPlan record, StateViews views, Run run, Scratch scratch) {
    for (int round = 0; ; round++) {
      try {
        while (true) {
          RecordLocation location =
              engine.segments.write(
                  record,
                  views,
                  run,
                  state.descriptor(),
                  scratch,
                  engine.options.verifyLossy(),
                  flight);
          if (location != null) {
            return location;
          }
          engine.publisher.forceData();
        }
      } catch (QuotaExceededException e) {
        if (round == ROOM_ROUNDS) {
          throw e;
        }
        engine.space.reserve(
            reservation,
            Math.max(record.maxBytes(), engine.segments.sizing().runBytes())
                + state.descriptor().pageBytes()
                + 2 * Alignment.PAGE_BYTES);
      }
    }
  }

  // What becomes of it

  /** It is visible now. The caller is inside a write. */
  void published(Written written) {
    promise.published(written.locations());
  }

  /** It is dead. */
  void discard(Written written) {
    if (!written.locations().isEmpty()) {
      engine.publisher.write(
          () -> {
            discardLocked(written);
            return null;
          });
    }
  }

  /** It is dead. The caller is inside a write. */
  void discardLocked(Written written) {
    promise.giveBack(NamespacePromises.pageBytes(written.locations()));
    for (RecordLocation location : written.locations()) {
      engine.segments.stillborn(location, engine.publisher.published());
    }
  }

  /** What was promised and not used is free again. The caller is inside a write. */
  void endPromise() {
    promise.end();
  }

  /** What has to be done, each whatever becomes of the others, to let go of segments and room. */
  List<Runnable> releases() {
    return List.of(
        () -> engine.segments.release(rowRun),
        () -> engine.segments.release(pointRun),
        reservation::end);
  }
}
