package dev.waymark.internal.reclaim;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.layout.BoundaryKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What lives in a segment, by one look at every boundary. Pure. */
final class SegmentContents {
  private SegmentContents() {}

  /**
   * A live record.
   *
   * @param namespaceId with the key, whose it is: numbers of nodes do not outlast a look
   * @param newestUse when its boundary, or anything that stands on it, was used last
   */
  record Live(
      int namespaceId, BoundaryKey key, RecordKind kind, RecordLocation location, long newestUse) {}

  /** The live records of a segment in the order in which they stand there. */
  static List<Live> of(Forest forest, long segmentId) {
    List<Live> found = new ArrayList<>();
    NewestUse uses = NewestUse.of(forest);
    forest.forEachBoundary(
        node -> {
          for (RecordKind kind : RecordKind.values()) {
            add(forest, node, kind, segmentId, uses.of(node), found);
          }
        });
    found.sort(Comparator.comparingLong(live -> live.location().offsetBytes()));
    return found;
  }

  private static void add(
      Forest forest, int node, RecordKind kind, long segmentId, long newestUse, List<Live> found) {
    for (RecordLocation record : forest.records(node, kind)) {
      if (record.segmentId() == segmentId) {
        found.add(
            new Live(forest.namespaceOf(node).id(), forest.key(node), kind, record, newestUse));
      }
    }
  }
}
