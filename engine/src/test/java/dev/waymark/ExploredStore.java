package dev.waymark;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.layout.BoundaryKey;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** What the explorer needs of a store that callers do not get. */
public final class ExploredStore {
  private ExploredStore() {}

  /** Opens a store on a simulated directory. */
  public static SnapshotStore open(
      StoreDirectory directory, StoreOptions options, LongSupplier clock, YieldPoints yields) {
    return SnapshotStore.open(directory, options, clock, yields);
  }

  /** Lets go of everything without another write, as a process that dies would. */
  public static void abandon(SnapshotStore store) {
    store.abandon();
  }

  /** Writes the whole state into a new manifest. */
  public static void checkpoint(SnapshotStore store) {
    store.engine().publisher.checkpoint();
  }

  /** Whether the open store has a boundary: no look-up, no lock, and nobody else may be in it. */
  public static boolean hasRows(SnapshotStore store, Namespace namespace, BoundaryKey key) {
    return find(store, namespace, key) != Forest.NONE;
  }

  /** Whether the open store has that boundary as a point. */
  public static boolean hasPoint(SnapshotStore store, Namespace namespace, BoundaryKey key) {
    int node = find(store, namespace, key);
    return node != Forest.NONE && store.engine().forest.isPoint(node);
  }

  private static int find(SnapshotStore store, Namespace namespace, BoundaryKey key) {
    Forest forest = store.engine().forest;
    int id = namespace.state().id();
    return forest.namespace(id) == null ? Forest.NONE : forest.find(id, key);
  }

  /** Boundaries that made room since it was opened. */
  public static long evictedBoundaries(SnapshotStore store) {
    return store.engine().counters.evictedBoundaries.sum();
  }

  /** The last boundary of each kept chain, by name. */
  public static Map<String, BoundaryKey> kept(SnapshotStore store) {
    Map<String, BoundaryKey> kept = new TreeMap<>();
    Forest forest = store.engine().forest;
    forest.kept().forEach(each -> kept.put(each.name(), forest.key(each.node())));
    return kept;
  }

  /** The sequence that the next record or touch gets. */
  public static long nextSequence(SnapshotStore store) {
    return store.engine().segments.peekSequence();
  }

  /** What segments occupy and the quota is not charged with, or less than nothing; 0 if right. */
  public static long unchargedBytes(SnapshotStore store) {
    QuotaGate gate = store.engine().space.gate();
    long charged = gate.segmentsMostBytes() - gate.freeBytes() - gate.reservedBytes();
    long occupied =
        store.engine().segments.infos().stream().mapToLong(SegmentInfo::allocatedBytes).sum();
    return occupied - charged;
  }

  /** Verifies a store that nobody has open, as closely as can be. */
  public static StoreVerifier.Report verify(StoreDirectory directory, LongSupplier clock) {
    return StoreVerifier.verify(directory, clock, StoreVerifier.Level.ALL, bytes -> {});
  }
}
