package dev.waymark;

import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
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
}
