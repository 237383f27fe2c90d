package dev.waymark.jmh.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the process holds, after a collection.
 *
 * @param heapBytes live heap
 * @param mappings lines of /proc/self/maps that name a file of the store
 * @param descriptors open files
 */
record Footprint(long heapBytes, long mappings, long descriptors) {

  static Footprint take() throws IOException {
    Runtime runtime = Runtime.getRuntime();
    long heap = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      heap = Math.min(heap, runtime.totalMemory() - runtime.freeMemory());
    }
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"));
        Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return new Footprint(heap, maps.filter(line -> line.contains(".seg")).count(), open.count());
    }
  }

  /** The most of each. */
  static Footprint most(List<Footprint> footprints) {
    return footprints.stream()
        .reduce(
            new Footprint(0, 0, 0),
            (a, b) ->
                new Footprint(
                    Math.max(a.heapBytes, b.heapBytes),
                    Math.max(a.mappings, b.mappings),
                    Math.max(a.descriptors, b.descriptors)));
  }

  /** Whether anything is a quarter more, or a few where there are few. */
  boolean exceeds(Footprint other) {
    return heapBytes > other.heapBytes + other.heapBytes / 4
        || mappings > other.mappings + other.mappings / 4 + 8
        || descriptors > other.descriptors + other.descriptors / 4 + 8;
  }

  @Override
  public String toString() {
    return "heap %,d KiB, %d mappings of segments, %d descriptors"
        .formatted(heapBytes >> 10, mappings, descriptors);
  }
}
