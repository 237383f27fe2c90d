package dev.waymark;

import dev.waymark.StoreInspector.BoundaryDetail;
import dev.waymark.StoreInspector.BoundaryReport;
import dev.waymark.StoreInspector.Explanation;
import dev.waymark.StoreInspector.RecordReport;
import dev.waymark.StoreInspector.RootReport;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.check.ReadOnlyStore;
import dev.waymark.internal.check.SegmentAccount;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Prompt;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Roots, boundaries and records of a forest, as reports show them. Reads only. */
final class ForestReports {
  private final ReadOnlyStore store;
  private final Forest forest;

  ForestReports(ReadOnlyStore store) {
    this.store = store;
    this.forest = store.forest();
  }

  List<RootReport> roots() {
    List<RootReport> roots = new ArrayList<>();
    forest.forEachRoot(root -> roots.add(root(root)));
    roots.sort(
        Comparator.comparingInt(RootReport::namespaceId)
            .thenComparing(RootReport::isTenant)
            .thenComparing(RootReport::key));
    return roots;
  }

  private RootReport root(int node) {
    NamespaceState namespace = forest.namespaceOf(node);
    return new RootReport(
        namespace.id(),
        forest.key(node).abbreviated(),
        !forest.key(node).equals(KeyChain.root(namespace.fingerprint().toBytes())),
        children(forest, node));
  }

  void forEachBoundary(RootReport root, Consumer<BoundaryReport> consumer) {
    forest.forEachRoot(
        node -> {
          if (forest.namespaceOf(node).id() == root.namespaceId() && root(node).equals(root)) {
            forEachBelow(forest, node, consumer);
          }
        });
  }

  static void forEachBelow(Forest forest, int root, Consumer<BoundaryReport> consumer) {
    int node = forest.firstChild(root);
    while (node != Forest.NONE) {
      consumer.accept(report(forest, node));
      int next = forest.firstChild(node);
      while (next == Forest.NONE && node != root) {
        next = forest.nextSibling(node);
        node = forest.parent(node);
      }
      node = next;
    }
  }

  private static int children(Forest forest, int node) {
    int children = 0;
    for (int child = forest.firstChild(node);
        child != Forest.NONE;
        child = forest.nextSibling(child)) {
      children++;
    }
    return children;
  }

  static BoundaryReport report(Forest forest, int node) {
    return new BoundaryReport(
        forest.namespaceOf(node).id(),
        forest.key(node).abbreviated(),
        forest.key(forest.parent(node)).abbreviated(),
        forest.tokens(node),
        forest.isRestorable(node),
        forest.isBranch(node),
        children(forest, node),
        forest.rowBytes(node),
        forest.ownPointBytes(node),
        forest.addedMillis(node));
  }

  List<BoundaryDetail> find(String keyPrefix) {
    String prefix = KeyPrefix.check(keyPrefix);
    List<BoundaryDetail> found = new ArrayList<>();
    Map<Long, String> files = files();
    forest.forEachBoundary(
        node -> {
          if (KeyPrefix.matches(forest.key(node), prefix)) {
            found.add(detail(node, files));
          }
        });
    return found;
  }

  private BoundaryDetail detail(int node, Map<Long, String> files) {
    List<RecordReport> records = new ArrayList<>();
    for (RecordKind kind : RecordKind.values()) {
      addRecords(node, kind, files, records);
    }
    int root = node;
    int deepest = 0;
    long rowBytes = 0;
    while (!forest.isRoot(root)) {
      if (deepest == 0 && forest.isRestorable(root)) {
        deepest = forest.tokens(root);
      }
      rowBytes += forest.rowBytes(root);
      root = forest.parent(root);
    }
    boolean restorable = forest.isRestorable(node);
    DropReason dropped = restorable ? null : store.drops().point(forest.key(node));
    return new BoundaryDetail(
        report(forest, node),
        root(root),
        forest.recency(node),
        deepest,
        restorable ? rowBytes + forest.pointBytes(node) : 0,
        forest.isWindowCovered(node),
        restorable
            ? MissReason.NONE
            : dropped == null ? MissReason.NO_STATE : MatchWalk.missReason(dropped),
        records);
  }

  private Map<Long, String> files() {
    Map<Long, String> files = new HashMap<>();
    for (SegmentAccount segment : store.segments()) {
      files.put(segment.info().segmentId(), segment.info().fileName());
    }
    return files;
  }

  private void addRecords(
      int node, RecordKind kind, Map<Long, String> files, List<RecordReport> records) {
    List<RecordLocation> locations = forest.records(node, kind);
    for (int piece = 0; piece < locations.size(); piece++) {
      RecordLocation location = locations.get(piece);
      records.add(
          new RecordReport(
              location.segmentId(),
              files.getOrDefault(location.segmentId(), ""),
              location.offsetBytes(),
              location.lengthBytes(),
              kind.name().toLowerCase(Locale.ROOT),
              piece,
              locations.size(),
              forest.namespaceOf(node).id(),
              forest.key(node).abbreviated(),
              forest.tokens(node)));
    }
  }

  List<MissReason> droppedWhy(String keyPrefix) {
    return store.drops().rows(KeyPrefix.check(keyPrefix)).stream()
        .map(MatchWalk::missReason)
        .toList();
  }

  List<RecordReport> records(long segmentId) {
    Map<Long, String> files = files();
    List<RecordReport> records = new ArrayList<>();
    IntConsumer add =
        node -> {
          for (RecordKind kind : RecordKind.values()) {
            if (isIn(segmentId, forest.records(node, kind))) {
              addRecords(node, kind, files, records);
            }
          }
        };
    forest.forEachBoundary(add);
    records.removeIf(record -> record.segmentId() != segmentId);
    records.sort(Comparator.comparingLong(RecordReport::offsetBytes));
    return records;
  }

  private static boolean isIn(long segmentId, List<RecordLocation> locations) {
    for (RecordLocation location : locations) {
      if (location.segmentId() == segmentId) {
        return true;
      }
    }
    return false;
  }

  Explanation explain(int namespaceId, byte[] tenantSalt, int[] tokens) {
    NamespaceState namespace = forest.namespace(namespaceId);
    if (namespace == null) {
      throw new InvalidArgumentException(
          ErrorDetail.of("there is no such namespace")
              .expected("the number of one that segtool ls lists")
              .found(namespaceId));
    }
    byte[] fingerprint = namespace.fingerprint().toBytes();
    BoundaryKey rootKey =
        tenantSalt == null
            ? KeyChain.root(fingerprint)
            : KeyChain.tenantRoot(fingerprint, tenantSalt);
    MatchWalk walk =
        MatchWalk.of(
            forest,
            namespace,
            rootKey,
            Prompt.ofTokens(tokens),
            Math.max(0, tokens.length - 1),
            store.drops()::rows);
    int block = namespace.layout().blockTokens();
    int stored = walk.keys().size() * block;
    int[] points = walk.points();
    int deepest = points.length == 0 ? 0 : points[points.length - 1];
    return new Explanation(
        tokens.length,
        stored,
        walk.branchTokens(),
        IntStream.of(points).boxed().toList(),
        walk.bytesToRead(),
        walk.why(),
        MatchWalk.sentence(walk.why(), stored, deepest, tokens.length, block));
  }
}
