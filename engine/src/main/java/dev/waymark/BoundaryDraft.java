package dev.waymark;

import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.StateViews;

/**
 * What was written of one boundary and is not visible yet: its rows, and the window and the fixed
 * state of its point.
 *
 * <p>Invariant: each part that was written is published once, or discarded once.
 */
final class BoundaryDraft {
  private final SessionRecords records;
  private final BoundaryKey key;
  private final BoundaryKey parentKey;
  private final int from;
  private final int to;
  private final StateViews views;

  private Written rows;
  private Written delta;
  private Written state;
  private int coveredTo;

  BoundaryDraft(
      SessionRecords records,
      BoundaryKey key,
      BoundaryKey parentKey,
      int from,
      int to,
      StateViews views) {
    this.records = records;
    this.key = key;
    this.parentKey = parentKey;
    this.from = from;
    this.to = to;
    this.views = views;
    this.coveredTo = to;
  }

  BoundaryKey key() {
    return key;
  }

  BoundaryKey parentKey() {
    return parentKey;
  }

  int from() {
    return from;
  }

  int to() {
    return to;
  }

  boolean hasRows() {
    return rows != null;
  }

  boolean hasState() {
    return state != null;
  }

  /** Whether the window was written from this row on, or from one before it. */
  boolean hasDelta(int fromRow) {
    return delta != null && coveredTo <= fromRow;
  }

  /** First window row that was written; what is before it the chain has. */
  int coveredTo() {
    return coveredTo;
  }

  int recordCount() {
    return count(rows) + count(delta) + count(state);
  }

  private static int count(Written written) {
    return written == null ? 0 : written.locations().size();
  }

  void writeRows() {
    rows = records.writeRows(this, views);
  }

  /** Writes the window from a row on, in place of what was written of it before. */
  void writeDelta(int fromRow) {
    records.discard(takeDelta());
    coveredTo = fromRow;
    delta = records.writeDelta(this, views);
  }

  void writeState() {
    state = records.writeState(this, views);
  }

  // Each hands out what there is, once

  Written takeRows() {
    Written taken = taken(rows);
    rows = null;
    return taken;
  }

  Written takeDelta() {
    Written taken = taken(delta);
    delta = null;
    return taken;
  }

  Written takeState() {
    Written taken = taken(state);
    state = null;
    return taken;
  }

  private static Written taken(Written written) {
    return written == null ? Written.NOTHING : written;
  }

  /** What is left of it is dead. The caller is inside a write. */
  void discardLocked() {
    records.discardLocked(takeRows());
    records.discardLocked(takeDelta());
    records.discardLocked(takeState());
  }
}
