package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Recounts what a store holds, and checks that it hangs together. */
final class ForestChecker {
  private final Forest forest;
  private final SegmentSet segments;
  private final Map<Integer, long[]> byNamespace = new HashMap<>();
  private final Map<Long, TreeMap<Long, RecordLocation>> bySegment = new HashMap<>();

  private ForestChecker(StoreEngine engine) {
    this.forest = engine.forest;
    this.segments = engine.segments;
  }

  static void check(SnapshotStore store) {
    StoreEngine engine = store.engine();
    engine.publisher.read(
        () -> {
          new ForestChecker(engine).check();
          return null;
        });
  }

  private void check() {
    long[] total = new long[2];
    forest.forEachBoundary(
        node -> {
          checkPlace(node);
          checkPoint(node);
          total[0]++;
          total[1] += forest.isPoint(node) ? 1 : 0;
          long[] sums =
              byNamespace.computeIfAbsent(forest.namespaceOf(node).id(), n -> new long[4]);
          sums[0]++;
          sums[1] += forest.isPoint(node) ? 1 : 0;
          sums[2] += collect(forest.rowRecords(node));
          sums[3] += collect(forest.deltaRecords(node)) + collect(forest.stateRecords(node));
        });
    forest.forEachRoot(
        root -> {
          checkChildren(root);
          assertThat(forest.firstChild(root) != Forest.NONE || forest.isHeld(root))
              .as("a root stands above something")
              .isTrue();
        });
    assertThat(forest.boundaryCount()).as("boundaries").isEqualTo(total[0]);
    assertThat(forest.pointCount()).as("points").isEqualTo(total[1]);
    for (NamespaceState state : forest.namespaces()) {
      long[] sums = byNamespace.getOrDefault(state.id(), new long[4]);
      assertThat(
              new long[] {
                state.boundaries(), state.points(), state.rowRecordBytes(), state.pointRecordBytes()
              })
          .as("account of namespace " + state.id())
          .isEqualTo(sums);
    }
    segments.infos().forEach(this::checkSegment);
  }

  private void checkPlace(int node) {
    int parent = forest.parent(node);
    NamespaceState state = forest.namespaceOf(node);
    assertThat(forest.find(state.id(), forest.key(node))).isEqualTo(node);
    assertThat(forest.namespaceOf(parent)).isSameAs(state);
    assertThat(forest.tokens(node) - forest.tokens(parent)).isEqualTo(state.layout().blockTokens());
    checkChildren(node);
    int self = forest.firstChild(parent);
    while (self != node && self != Forest.NONE) {
      self = forest.nextSibling(self);
    }
    assertThat(self).as("a boundary is among its parent's children").isEqualTo(node);
    long raw = state.layout().rowBytes(forest.tokens(parent), forest.tokens(node));
    assertThat(forest.rowRecords(node).isEmpty() && raw > 0).as("rows without records").isFalse();
  }

  private void checkChildren(int node) {
    for (int child = forest.firstChild(node);
        child != Forest.NONE;
        child = forest.nextSibling(child)) {
      assertThat(forest.parent(child)).as("a child knows its parent").isEqualTo(node);
    }
  }

  private void checkPoint(int node) {
    Layout layout = forest.namespaceOf(node).layout();
    if (forest.isPoint(node)) {
      assertThat(forest.stateRecords(node).isEmpty() && layout.fixedBytes() > 0)
          .as("a point at " + forest.tokens(node) + " without state")
          .isFalse();
      Set<Growth.Window> seen = new HashSet<>();
      for (TensorSpec spec : layout.tensors()) {
        if (spec.growth() instanceof Growth.Window window
            && spec.bytesOfRows(1) > 0
            && seen.add(window)) {
          checkWindow(node, spec, window);
        }
      }
    } else {
      assertThat(forest.stateRecords(node)).as("state without a point").isEmpty();
      assertThat(forest.hasDelta(node) && !forest.isDeltaNeededBelow(node))
          .as("a delta at " + forest.tokens(node) + " that no point needs")
          .isFalse();
    }
  }

  /** Every row is in the delta of some boundary of the chain. */
  private void checkWindow(int point, TensorSpec spec, Growth.Window window) {
    int to = forest.tokens(point);
    for (int row = Math.max(window.sinkTokens(), to - window.windowTokens()); row < to; row++) {
      boolean covered = false;
      for (int at = point; at != Forest.NONE && !covered; at = forest.parent(at)) {
        int from = forest.tokens(at) - window.windowTokens();
        covered =
            forest.hasDelta(at)
                && row < forest.tokens(at)
                && row >= Math.max(from, forest.coveredFrom(at));
      }
      if (!covered) {
        throw new AssertionError("no delta has row " + row + " of " + spec + " at the point " + to);
      }
    }
  }

  private long collect(List<RecordLocation> records) {
    long bytes = 0;
    for (RecordLocation record : records) {
      RecordLocation before =
          bySegment
              .computeIfAbsent(record.segmentId(), id -> new TreeMap<>())
              .put(record.offsetBytes(), record);
      assertThat(before).as("two records in one place").isNull();
      bytes += record.lengthBytes();
    }
    return bytes;
  }

  private void checkSegment(SegmentInfo info) {
    TreeMap<Long, RecordLocation> records =
        bySegment.getOrDefault(info.segmentId(), new TreeMap<>());
    long bytes = 0;
    long end = Alignment.PAGE_BYTES;
    List<RecordLocation> all = new ArrayList<>(records.values());
    for (RecordLocation record : all) {
      assertThat(record.offsetBytes()).as("records do not overlap").isGreaterThanOrEqualTo(end);
      end = record.offsetBytes() + Alignment.toPage(record.lengthBytes());
      bytes += record.lengthBytes();
    }
    assertThat(end).as("records end inside the file").isLessThanOrEqualTo(info.lengthBytes());
    assertThat(info.liveBytes()).as("live bytes of " + info.fileName()).isEqualTo(bytes);
    assertThat(info.liveRecords()).as("live records of " + info.fileName()).isEqualTo(all.size());
    assertThat(info.deadBytes()).isNotNegative();
    assertThat(info.reservedBytes()).as("reserved in " + info.fileName()).isNotNegative();
    if (info.sealed()) {
      assertThat(info.reservedBytes()).as("reserved in sealed " + info.fileName()).isZero();
    }
  }
}
