package dev.waymark.internal.publish;

import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.Run;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.Edit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Copies records that stand in a segment which could not be forced. The kernel may have dropped
 * their pages, so that only what still matches its checksums is copied.
 */
public final class Salvage {
  private final Forest forest;
  private final SegmentSet segments;

  private final RecordCopier copier;

  /** A salvage within these segments. */
  public Salvage(Forest forest, SegmentSet segments) {
    this.forest = forest;
    this.segments = segments;
    this.copier = new RecordCopier(segments);
  }

  /** Whether an edit makes a record live that stands in one of these segments. */
  boolean concerns(Edit edit, Set<Long> bad) {
    if (edit instanceof Edit.RowsAdded e) {
      return stands(e.records(), bad);
    }
    if (edit instanceof Edit.PointAdded e) {
      return stands(e.deltas(), bad) || stands(e.states(), bad);
    }
    return edit instanceof Edit.RecordMoved e && bad.contains(e.toSegmentId())
        || edit instanceof Edit.SegmentSealed s && bad.contains(s.segmentId());
  }

  /** The boundary that an edit adds to, or {@link Forest#NONE}. */
  int nodeOf(Edit edit) {
    if (edit instanceof Edit.RowsAdded e) {
      return forest.find(e.namespaceId(), e.key());
    }
    if (edit instanceof Edit.PointAdded e) {
      return forest.find(e.namespaceId(), e.key());
    }
    if (edit instanceof Edit.RecordMoved e) {
      return forest.find(e.namespaceId(), e.key());
    }
    return Forest.NONE;
  }

  /** Whether an edit names a boundary or a point that is not there any more. */
  boolean namesMissing(Edit edit) {
    if (edit instanceof Edit.RowsAdded e) {
      return forest.find(e.namespaceId(), e.key()) == Forest.NONE;
    }
    if (edit instanceof Edit.PointAdded e) {
      int node = forest.find(e.namespaceId(), e.key());
      return node == Forest.NONE || !forest.isPoint(node);
    }
    if (edit instanceof Edit.BoundaryUsed e) {
      return forest.find(e.namespaceId(), e.key()) == Forest.NONE;
    }
    return false;
  }

  /**
   * Copies the records of an edit out of the bad segments.
   *
   * @param apply applies the moves to the forest
   * @return the edit as it has to be written now, or null where something could not be saved
   */
  Edit move(Edit edit, Set<Long> bad, Consumer<Edit> apply) {
    try {
      if (edit instanceof Edit.RowsAdded e) {
        return new Edit.RowsAdded(
            e.namespaceId(),
            e.key(),
            e.parentKey(),
            e.sessionId(),
            e.tokenFrom(),
            e.tokenTo(),
            e.sequence(),
            e.addedMillis(),
            e.payloadBytes(),
            moveAll(e.records(), bad, RecordKind.APPEND, nodeOf(e), apply));
      }
      if (edit instanceof Edit.PointAdded e) {
        return new Edit.PointAdded(
            e.namespaceId(),
            e.key(),
            e.sessionId(),
            e.coveredFrom(),
            e.sequence(),
            e.addedMillis(),
            e.deltaPayloadBytes(),
            e.statePayloadBytes(),
            moveAll(e.deltas(), bad, RecordKind.DELTA, nodeOf(e), apply),
            moveAll(e.states(), bad, RecordKind.STATE, nodeOf(e), apply));
      }
      if (edit instanceof Edit.RecordMoved e) {
        return moveAgain(e, apply);
      }
      return null;
    } catch (WaymarkException e) {
      return null;
    }
  }

  /** The place that the copy was made from is whole still: nothing of the move is durable. */
  private Edit moveAgain(Edit.RecordMoved e, Consumer<Edit> apply) {
    int node = nodeOf(e);
    RecordLocation now = forest.recordAt(node, e.kind(), e.toSegmentId(), e.toOffsetBytes());
    if (now == null) {
      return null;
    }
    RecordLocation from =
        new RecordLocation(e.fromSegmentId(), e.fromOffsetBytes(), now.lengthBytes());
    RecordLocation to = copy(from, e.kind().segmentKind(), forest.namespaceOf(node));
    apply.accept(
        new Edit.RecordMoved(
            e.namespaceId(),
            e.key(),
            e.kind(),
            now.segmentId(),
            now.offsetBytes(),
            to.segmentId(),
            to.offsetBytes()));
    return new Edit.RecordMoved(
        e.namespaceId(),
        e.key(),
        e.kind(),
        from.segmentId(),
        from.offsetBytes(),
        to.segmentId(),
        to.offsetBytes());
  }

  private List<RecordLocation> moveAll(
      List<RecordLocation> records,
      Set<Long> bad,
      RecordKind kind,
      int node,
      Consumer<Edit> apply) {
    List<RecordLocation> moved = new ArrayList<>();
    for (RecordLocation from : records) {
      if (!bad.contains(from.segmentId())) {
        moved.add(from);
        continue;
      }
      RecordLocation to = copy(from, kind.segmentKind(), forest.namespaceOf(node));
      apply.accept(
          new Edit.RecordMoved(
              forest.namespaceOf(node).id(),
              forest.key(node),
              kind,
              from.segmentId(),
              from.offsetBytes(),
              to.segmentId(),
              to.offsetBytes()));
      moved.add(to);
    }
    return moved;
  }

  private RecordLocation copy(RecordLocation from, SegmentKind kind, NamespaceState namespace) {
    Run run = new Run(kind);
    try {
      return copier.copy(from, namespace, run);
    } finally {
      segments.release(run);
    }
  }

  private static boolean stands(List<RecordLocation> records, Set<Long> bad) {
    return records.stream().anyMatch(record -> bad.contains(record.segmentId()));
  }
}
