package dev.waymark.internal.forest;

import dev.waymark.internal.log.RecordLocation;

/** Told of every record that an edit makes live or dead. */
public interface RecordEvents {
  /** An edit names the record. */
  void born(RecordLocation location);

  /** The edit that named the record was undone. */
  void died(RecordLocation location);
}
