package dev.waymark.explore;

import dev.waymark.ExploredStore;
import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
import java.util.function.LongSupplier;

/** A store that is open, with the namespaces of the explored world. */
final class Opened {
  /** The smallest there is: segments of 256 KiB. Nothing is forced unless asked for. */
  static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .quota(StoreOptions.MIN_QUOTA_BYTES)
          .restoreThreads(1)
          .backgroundThread(false)
          .build();

  private final SnapshotStore store;
  private final Namespace[] namespaces = new Namespace[Space.ALL.size()];

  private Opened(SnapshotStore store) {
    this.store = store;
  }

  static Opened open(StoreDirectory directory, LongSupplier clock, YieldPoints yields) {
    return new Opened(ExploredStore.open(directory, OPTIONS, clock, yields));
  }

  SnapshotStore store() {
    return store;
  }

  Namespace namespace(Space space) {
    if (namespaces[space.index] == null) {
      namespaces[space.index] = store.namespace(space.identity, space.layout);
    }
    return namespaces[space.index];
  }

  void abandon() {
    ExploredStore.abandon(store);
  }
}
