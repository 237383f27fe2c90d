package dev.waymark.explore;

import dev.waymark.ExploredStore;
import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;
import dev.waymark.explore.Space.Node;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** A store that is open, with the namespaces of the explored world. */
final class Opened {
  private final World world;
  private final SnapshotStore store;
  private final Map<Space, Namespace> namespaces = new HashMap<>();

  private Opened(World world, SnapshotStore store) {
    this.world = world;
    this.store = store;
  }

  static Opened open(
      StoreDirectory directory, World world, LongSupplier clock, YieldPoints yields) {
    return new Opened(world, ExploredStore.open(directory, world.options(), clock, yields));
  }

  World world() {
    return world;
  }

  SnapshotStore store() {
    return store;
  }

  Namespace namespace(Space space) {
    return namespaces.computeIfAbsent(space, s -> store.namespace(s.identity, s.layout));
  }

  /** A namespace was deleted; asked for again, it is made again. */
  void forget(Space space) {
    namespaces.remove(space);
  }

  /** Whether the running store has a boundary; looks where it is, and asks nothing of the store. */
  boolean hasRows(Node node) {
    Namespace namespace = namespaces.get(node.space);
    return namespace != null && ExploredStore.hasRows(store, namespace, node.key);
  }

  /** Whether the running store has it as a point. */
  boolean hasPoint(Node node) {
    Namespace namespace = namespaces.get(node.space);
    return namespace != null && ExploredStore.hasPoint(store, namespace, node.key);
  }

  long evictedBoundaries() {
    return ExploredStore.evictedBoundaries(store);
  }

  void abandon() {
    ExploredStore.abandon(store);
  }
}
