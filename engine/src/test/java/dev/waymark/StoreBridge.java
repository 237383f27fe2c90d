package dev.waymark;

import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;

/** What the fault stages need of a store beyond its public face. */
public final class StoreBridge {
  private StoreBridge() {}

  /** Lets go of every file without another write, as a process that dies would. */
  public static void abandon(SnapshotStore store) {
    store.abandon();
  }

  /** What the file system says that the store's directory occupies. */
  public static long allocatedOnDisk(SnapshotStore store) {
    return store.engine().directory.allocatedBytes();
  }

  /** What each file of the store's directory occupies, by name. */
  public static SortedMap<String, Long> filesOnDisk(SnapshotStore store) {
    StoreDirectory directory = store.engine().directory;
    SortedMap<String, Long> files = new TreeMap<>();
    directory.list().forEach(name -> files.put(name, directory.allocatedBytes(name)));
    return files;
  }

  /** Opens a store without any background help, on a directory of the operating system. */
  public static SnapshotStore openWritable(Path path, StoreOptions options) {
    return SnapshotStore.open(
        RealDirectory.openForWriting(path, true),
        options,
        System::currentTimeMillis,
        dev.waymark.internal.io.YieldPoints.NONE);
  }
}
