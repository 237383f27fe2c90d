package dev.waymark.internal.reclaim;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentSizing;
import java.util.HashSet;
import java.util.Set;

/**
 * Segments that cannot be emptied: a record in them is too large for segments as they are since the
 * store was opened with a lower quota, and may not be dropped. Pure.
 */
public final class StuckSegments {
  private StuckSegments() {}

  /**
   * Their ids.
   *
   * @param mayDrop whether such a record may be dropped unless it is held
   */
  public static Set<Long> of(Forest forest, SegmentSizing sizing, boolean mayDrop) {
    Set<Long> segments = new HashSet<>();
    forest.forEachBoundary(
        node -> {
          long descriptorBytes = forest.namespaceOf(node).descriptor().pageBytes();
          for (RecordKind kind : RecordKind.values()) {
            for (RecordLocation record : forest.records(node, kind)) {
              if (!sizing.fits(record.lengthBytes(), descriptorBytes)
                  && !(mayDrop && !forest.isHeldOrKeptAtOrBelow(node))) {
                segments.add(record.segmentId());
              }
            }
          }
        });
    return segments;
  }
}
