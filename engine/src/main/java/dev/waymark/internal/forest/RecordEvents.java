package dev.waymark.internal.forest;

import dev.waymark.internal.log.RecordLocation;

/** Told of every record that an edit makes live or dead. */
public interface RecordEvents {
  /** An edit names the record. */
  void born(RecordLocation location);

  /**
   * The edit that named the record was undone.
   *
   * @param mayBeRead whether a holder of the boundary, or of one below, may still look at it
   */
  void died(RecordLocation location, boolean mayBeRead);
}
