package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a process holds does not grow with the segments that it made and removed. */
@EnabledOnOs(OS.LINUX)
class SegmentChurnTest {
  private static final int SEGMENTS = 10_000;
  private static final int MOST_MAPPINGS = 80;
  private static final int MOST_DESCRIPTORS = 80;
  private static final long MOST_HEAP_GROWTH_BYTES = 8L << 20;

  private final Layout layout = FieldLayouts.dense512(512);

  @Test
  void tenThousandSegmentsMadeAndRemoved(@TempDir Path dir) throws IOException {
    Path path = dir.toRealPath().resolve("store");
    StoreOptions options = StoreOptions.builder().quota("16MiB").backgroundThread(false).build();
    try (SnapshotStore store = SnapshotStore.open(path, options)) {
      Namespace ns = store.namespace(TestStore.identity("w"), layout);
      long heapAtFirst = 0;
      long mappings = 0;
      long descriptors = 0;
      int nextLook = 1_000;
      for (int i = 0; made(store) < SEGMENTS; i++) {
        // Some stay until the quota takes them, some go at once.
        store(ns, i, i % 2 == 0 ? AbortMode.KEEP : AbortMode.DISCARD);
        if (made(store) >= nextLook) {
          mappings = Math.max(mappings, mappings(path));
          descriptors = Math.max(descriptors, descriptors(path));
          heapAtFirst = heapAtFirst == 0 ? heap() : heapAtFirst;
          nextLook += 1_000;
        }
      }
      long heapGrowth = heap() - heapAtFirst;
      System.out.printf(
          "%d segments made, %d there; at most %d mappings and %d descriptors; heap grew %,d B%n",
          made(store), store.stats().segments(), mappings, descriptors, heapGrowth);
      assertThat(mappings).isPositive().isLessThanOrEqualTo(MOST_MAPPINGS);
      assertThat(descriptors).isPositive().isLessThanOrEqualTo(MOST_DESCRIPTORS);
      assertThat(heapGrowth).isLessThan(MOST_HEAP_GROWTH_BYTES);
      assertThat(store.stats().segments()).isLessThan(200);
      store.maintenance().deleteNamespace(ns, false);
      assertThat(mappings(path)).isLessThanOrEqualTo(4);
    }
    assertThat(mappings(path)).isZero();
    assertThat(descriptors(path)).isZero();
  }

  private void store(Namespace ns, int seed, AbortMode mode) {
    int[] tokens = QuotaTest.prompt(seed, 20 * 512 + 1);
    PrefixMatch match = ns.match(tokens);
    PrefillPlan plan = PrefillPlan.tokens(tokens.length).onAbort(mode);
    try (PrefillSession session = ns.prefill(match, plan)) {
      FieldLayouts.appendZeros(session, layout, tokens, tokens.length);
      if (mode == AbortMode.KEEP) {
        session.promptComplete();
      }
    }
  }

  private static long made(SnapshotStore store) {
    return store.engine().segments.nextSegmentId() - 1;
  }

  private static long mappings(Path path) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(path.toString())).count();
    }
  }

  private static long descriptors(Path path) throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.filter(fd -> leadsInto(fd, path)).count();
    }
  }

  private static boolean leadsInto(Path descriptor, Path path) {
    try {
      return Files.readSymbolicLink(descriptor).startsWith(path);
    } catch (NoSuchFileException e) {
      // It was the one that lists the others.
      return false;
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static long heap() {
    Runtime runtime = Runtime.getRuntime();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
