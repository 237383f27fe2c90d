package dev.waymark.internal.publish;

import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.Run;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.Edit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Copies records that stand in a segment which could not be forced. The kernel may have dropped
 * their pages, so that only what still matches its checksums is copied.
 */
public final class Salvage implements AutoCloseable {
  private final Forest forest;
  private final SegmentSet segments;
  private final SpaceGate.Payer payer;
  private final RecordCopier copier;

  /**
   * A salvage within these segments.
   *
   * @param payer pays for the copies, also where the quota has no room for anyone
   */
  public Salvage(Forest forest, SegmentSet segments, SpaceGate.Payer payer) {
    this.forest = forest;
    this.segments = segments;
    this.payer = payer;
    this.copier = new RecordCopier(segments);
  }

  /** Whether a record that an edit made live, and that is alive, stands in such a segment. */
  boolean standsIn(Edit edit, Set<Long> bad) {
    return !wanted(edit, bad).isEmpty();
  }

  /** Whether a delta is among those records. */
  boolean isDeltaIn(Edit edit, Set<Long> bad) {
    return wanted(edit, bad).stream().anyMatch(placed -> placed.kind() == RecordKind.DELTA);
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

  /**
   * Lets a record that was moved into a bad segment stand again where it was. Its bytes there stay
   * until the move is durable, so that this needs nothing of the device, and nothing that was
   * durable before the move can be lost by it.
   *
   * @param apply applies the move to the forest
   */
  void moveBack(Edit.RecordMoved edit, Set<Long> bad, Consumer<Edit> apply) {
    for (Placed moved : wanted(edit, bad)) {
      if (segments.revive(moved.source())) {
        apply.accept(
            new Edit.RecordMoved(
                edit.namespaceId(),
                edit.key(),
                edit.kind(),
                edit.toSegmentId(),
                edit.toOffsetBytes(),
                edit.fromSegmentId(),
                edit.fromOffsetBytes()));
      }
    }
  }

  /**
   * Brings back the delta that a lost one took the place of, as {@link #moveBack} does a record
   * that was moved: the edit that would add it can be applied after this.
   *
   * @param batch edits that are not durable yet
   * @return whether it is there, and durable or in a segment that is sound
   */
  boolean bringBack(Edit.PointAdded older, List<Edit> batch, Set<Long> bad) {
    for (RecordLocation record : older.deltas()) {
      if (bad.contains(record.segmentId()) && batch.stream().anyMatch(e -> puts(e, record))) {
        return false;
      }
    }
    // They died together: all of them are there, or none.
    return older.deltas().stream().allMatch(segments::revive);
  }

  private static boolean puts(Edit edit, RecordLocation record) {
    if (edit instanceof Edit.RecordMoved e) {
      return e.toSegmentId() == record.segmentId() && e.toOffsetBytes() == record.offsetBytes();
    }
    return edit instanceof Edit.PointAdded e && e.deltas().contains(record);
  }

  /**
   * Copies the records of an edit out of the bad segments.
   *
   * @param apply applies the moves to the forest
   * @return whether all could be saved
   */
  boolean move(Edit edit, Set<Long> bad, Consumer<Edit> apply) {
    try {
      int node = nodeOf(edit);
      NamespaceState namespace = forest.namespaceOf(node);
      for (Placed from : wanted(edit, bad)) {
        RecordLocation to = copy(from.source(), from.kind().segmentKind(), namespace);
        apply.accept(
            new Edit.RecordMoved(
                namespace.id(),
                forest.key(node),
                from.kind(),
                from.location().segmentId(),
                from.location().offsetBytes(),
                to.segmentId(),
                to.offsetBytes()));
      }
      return true;
    } catch (WaymarkException e) {
      return false;
    }
  }

  /**
   * A record.
   *
   * @param source where its bytes are whole; of a record that was moved the place that it was moved
   *     from, which stays until the move is durable
   */
  private record Placed(RecordLocation location, RecordKind kind, RecordLocation source) {}

  /**
   * The records of an edit that are in bad segments, as far as they still are where it put them:
   * edits after it may have dropped or moved them.
   */
  private List<Placed> wanted(Edit edit, Set<Long> bad) {
    int node = nodeOf(edit);
    List<Placed> wanted = new ArrayList<>();
    if (node == Forest.NONE) {
      return wanted;
    }
    if (edit instanceof Edit.RowsAdded e) {
      add(wanted, e.records(), forest.rowRecords(node), RecordKind.APPEND, bad);
    } else if (edit instanceof Edit.PointAdded e) {
      add(wanted, e.deltas(), forest.deltaRecords(node), RecordKind.DELTA, bad);
      add(wanted, e.states(), forest.stateRecords(node), RecordKind.STATE, bad);
    } else if (edit instanceof Edit.RecordMoved e && bad.contains(e.toSegmentId())) {
      RecordLocation now = forest.recordAt(node, e.kind(), e.toSegmentId(), e.toOffsetBytes());
      if (now != null) {
        RecordLocation before =
            new RecordLocation(e.fromSegmentId(), e.fromOffsetBytes(), now.lengthBytes());
        wanted.add(new Placed(now, e.kind(), before));
      }
    }
    return wanted;
  }

  private static void add(
      List<Placed> to,
      List<RecordLocation> added,
      List<RecordLocation> alive,
      RecordKind kind,
      Set<Long> bad) {
    for (RecordLocation record : added) {
      if (bad.contains(record.segmentId()) && alive.contains(record)) {
        to.add(new Placed(record, kind, record));
      }
    }
  }

  /** Gives its buffers back. */
  @Override
  public void close() {
    copier.close();
  }

  private RecordLocation copy(RecordLocation from, SegmentKind kind, NamespaceState namespace) {
    Run run = new Run(kind, Run.Heat.NEW, payer);
    try {
      return copier.copy(from, namespace, run);
    } finally {
      segments.release(run);
    }
  }
}
