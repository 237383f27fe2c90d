package dev.waymark.internal.reclaim;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.RecordLocation;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Segments with records of chains that someone reads: moved out, these would stay until the reader
 * is done, so that emptying such a segment gives nothing back now. Pure.
 */
public final class ReadSegments {
  private ReadSegments() {}

  /** Their ids. */
  public static Set<Long> of(Forest forest) {
    Set<Long> segments = new HashSet<>();
    Set<Integer> seen = new HashSet<>();
    for (int tip : forest.readNodes()) {
      for (int at = tip; at != Forest.NONE && !forest.isRoot(at) && seen.add(at); ) {
        add(forest.rowRecords(at), segments);
        add(forest.deltaRecords(at), segments);
        add(forest.stateRecords(at), segments);
        at = forest.parent(at);
      }
    }
    return segments;
  }

  private static void add(List<RecordLocation> records, Set<Long> segments) {
    records.forEach(record -> segments.add(record.segmentId()));
  }
}
