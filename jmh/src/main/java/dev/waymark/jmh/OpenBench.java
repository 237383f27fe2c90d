package dev.waymark.jmh;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.jmh.Report.Goal;
import dev.waymark.layout.RestorePolicy;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Opening a large store that was cleanly closed, and what its index takes in memory. */
final class OpenBench {
  private static final StoreOptions OPTIONS = StoreOptions.builder().quota("64GiB").build();
  private static final String OPEN = "open";
  private static final String READ = "reading the manifest's bytes once";

  private OpenBench() {}

  static void run(Bed bed) throws Exception {
    warm(bed);
    Path directory = bed.fresh("open");
    long boundaries = fill(directory, bed.form().manyBoundaries());
    try {
      memory(bed, directory, boundaries);
      Map<String, Bed.Turn> turns = new LinkedHashMap<>();
      turns.put(OPEN, () -> open(directory));
      turns.put(READ, () -> read(directory));
      bed.add(
          new Report.Row(
              "open",
              "cleanly closed, %,d boundaries".formatted(boundaries),
              "ms",
              bed.turns(turns),
              List.of(new Goal(OPEN, List.of(READ), false, 10)),
              "a manifest of %,d bytes, in the page cache"
                  .formatted(Files.size(manifest(directory)))));
    } finally {
      Bed.delete(directory);
    }
  }

  /** What the first open allocates for good is not the index's. */
  private static void warm(Bed bed) throws Exception {
    Load load = new Load(Shape.attention(64), RestorePolicy.LAST, 1, 4, true);
    for (int i = 0; i < 3; i++) {
      Path directory = bed.fresh("warm");
      try (Contender store =
          WaymarkContender.factory(WaymarkContender.NAME, 1).open(directory, load, false)) {
        Contender.Lane lane = store.lane(0);
        AppendBench.append(lane, load);
        lane.restore();
      }
      open(directory);
      Bed.delete(directory);
    }
  }

  private static long fill(Path directory, int wanted) {
    try (SnapshotStore store = SnapshotStore.open(directory, OPTIONS)) {
      ManyStore many = new ManyStore(store, 64);
      many.grow(wanted);
      return many.boundaries();
    }
  }

  private static void memory(Bed bed, Path directory, long boundaries) throws Exception {
    long heap = usedHeap();
    long anonymous = Os.anonymousBytes();
    try (SnapshotStore store = SnapshotStore.open(directory, OPTIONS)) {
      double more = (double) (usedHeap() - heap) / boundaries;
      double beside = (double) (Os.anonymousBytes() - anonymous) / boundaries;
      if (store.stats().boundaries() != boundaries) {
        throw new AssertionError("opened with " + store.stats().boundaries());
      }
      Map<String, double[]> figures = new LinkedHashMap<>();
      figures.put("index", new double[] {more + beside});
      figures.put("of it heap", new double[] {more});
      figures.put("of it off-heap", new double[] {beside});
      bed.add(
          new Report.Row(
              "open",
              "memory of an open store, %,d boundaries".formatted(boundaries),
              "bytes a boundary",
              figures,
              List.of(new Goal("index", List.of(), false, 160)),
              "heap after a collection; off-heap is what anonymous memory grew by beside a heap that"
                  + " is all there from the start"));
    }
  }

  private static long usedHeap() {
    System.gc();
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static double open(Path directory) {
    long from = System.nanoTime();
    SnapshotStore store = SnapshotStore.open(directory, OPTIONS);
    double millis = (System.nanoTime() - from) / 1e6;
    store.close();
    return millis;
  }

  private static double read(Path directory) throws IOException {
    Path manifest = manifest(directory);
    ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
    long from = System.nanoTime();
    try (FileChannel channel = FileChannel.open(manifest, StandardOpenOption.READ)) {
      while (channel.read(buffer.clear()) >= 0) {
        // All of it.
      }
    }
    return (System.nanoTime() - from) / 1e6;
  }

  private static Path manifest(Path directory) throws IOException {
    return Os.files(directory).stream()
        .filter(file -> file.getFileName().toString().startsWith("manifest-"))
        .findFirst()
        .orElseThrow();
  }
}
