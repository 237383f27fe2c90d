package dev.waymark.tools.space;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import java.nio.file.Path;

/** A store as an operator opens it: one that is there, with nothing going on in the background. */
final class OpenedStore {
  private OpenedStore() {}

  static SnapshotStore at(Path path) {
    return SnapshotStore.open(path, options().build());
  }

  static StoreOptions.Builder options() {
    return StoreOptions.builder().createIfMissing(false).backgroundThread(false);
  }
}
