package dev.waymark.jmh.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

  @Override
  public String toString() {
    return "heap %,d KiB, %d mappings of segments, %d descriptors"
        .formatted(heapBytes >> 10, mappings, descriptors);
  }
}
