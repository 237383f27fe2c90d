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
   */
  record Live(int namespaceId, BoundaryKey key, RecordKind kind, RecordLocation location) {}

  /** The live records of a segment in the order in which they stand there. */
  static List<Live> of(Forest forest, long segmentId) {
    List<Live> found = new ArrayList<>();
    forest.forEachBoundary(
        node -> {
          add(forest, node, RecordKind.APPEND, forest.rowRecords(node), segmentId, found);
          add(forest, node, RecordKind.DELTA, forest.deltaRecords(node), segmentId, found);
          add(forest, node, RecordKind.STATE, forest.stateRecords(node), segmentId, found);
        });
    found.sort(Comparator.comparingLong(live -> live.location().offsetBytes()));
    return found;
  }

  private static void add(
      Forest forest,
      int node,
      RecordKind kind,
      List<RecordLocation> records,
      long segmentId,
      List<Live> found) {
    for (RecordLocation record : records) {
      if (record.segmentId() == segmentId) {
        found.add(new Live(forest.namespaceOf(node).id(), forest.key(node), kind, record));
      }
    }
  }
}
