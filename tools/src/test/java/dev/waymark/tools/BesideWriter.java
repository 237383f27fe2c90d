package dev.waymark.tools;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.tools.model.CachedModel;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ModelConfig;
import dev.waymark.tools.model.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * Runs every inspecting verb beside a writer that appends, evicts, aborts, punches, compacts and
 * writes new manifests, in one process: the place where a second descriptor on LOCK would drop it.
 */
public final class BesideWriter {
  private static final int BLOCK_TOKENS = 16;

  private BesideWriter() {}

  /** {@code DIRECTORY RUNS SEED}: so many runs in all, of one verb after the other. */
  public static void main(String[] arguments) throws Exception {
    List<String> wrong =
        run(
            Path.of(arguments[0]),
            Integer.parseInt(arguments[1]),
            Long.parseLong(arguments[2]),
            System.out);
    wrong.forEach(System.out::println);
    System.exit(wrong.isEmpty() ? 0 : 1);
  }

  /** Returns what was wrong. */
  static List<String> run(Path dir, int runs, long seed, Appendable log) throws Exception {
    Path path = dir.resolve("beside");
    Path tokens = Files.writeString(dir.resolve("beside-tokens"), "[1, 2, 3]");
    List<String> verbs = new ArrayList<>(Verbs.INSPECTING.keySet());
    // A rebuild reads segments without their manifest, and is for stores that have no writer.
    verbs.remove("repair");
    List<String> wrong = new ArrayList<>();
    AtomicBoolean stop = new AtomicBoolean();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    StoreOptions options = StoreOptions.builder().quota("16MiB").build();
    int moving = 0;
    long evicted;
    try (SnapshotStore store = SnapshotStore.open(path, options)) {
      serve(store, new Random(seed), 400);
      store.flush();
      Thread writer = new Thread(() -> write(store, seed, stop, failure), "writer");
      writer.start();
      try {
        for (int i = 0; i < runs && failure.get() == null; i++) {
          String verb = verbs.get(i % verbs.size());
          Path output = tokens.resolveSibling("output");
          Files.deleteIfExists(output);
          Run run = Run.of(Verbs.arguments(verb, path, tokens));
          if (verb.equals("export")) {
            wrong.addAll(exported(run, output, dir.resolve("imported")));
          }
          boolean moved = run.exitCode() == 1 && run.err().contains("MOVING");
          // A segment that was named may be gone, or the namespace not yet seen.
          boolean gone = run.exitCode() == 1 && run.err().contains("INVALID_ARGUMENT");
          moving += moved ? 1 : 0;
          if (run.exitCode() != 0 && !moved && !gone) {
            wrong.add(verb + ": exit code " + run.exitCode() + "\n" + run.out() + run.err());
          }
          if (run.out().contains("WARNING ") || run.out().contains("ERROR ")) {
            wrong.add(verb + ": a finding\n" + run.out());
          }
        }
      } finally {
        stop.set(true);
        writer.join();
      }
      if (failure.get() != null) {
        wrong.add("the writer failed: " + failure.get());
      }
      if (!isLocked(path)) {
        wrong.add("the lock is gone");
      }
      evicted = store.stats().evictedBoundaries();
    }
    Run verify = Run.of("verify", path, "--level", "all");
    if (verify.exitCode() != 0) {
      wrong.add("after all of it: " + verify.out() + verify.err());
    }
    log.append(
        "%d runs, %d moving, %d boundaries evicted, seed %d%n"
            .formatted(runs, moving, evicted, seed));
    return wrong;
  }

  /** An export is whole, and right by all checks that an import makes; or there is no file. */
  private static List<String> exported(Run export, Path output, Path into) throws IOException {
    if (export.exitCode() != 0) {
      return Files.exists(output) ? List.of("a refused export left a file") : List.of();
    }
    Run in = Run.of("import", "--create", "--quota", "64MiB", into, output);
    Run verify = Run.of("verify", into, "--level", "all");
    try (Stream<Path> files = Files.walk(into)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    return in.exitCode() == 0 && verify.exitCode() == 0
        ? List.of()
        : List.of("an export that is not right: " + in.err() + verify.out() + verify.err());
  }

  private static void write(
      SnapshotStore store, long seed, AtomicBoolean stop, AtomicReference<Throwable> failure) {
    Random random = new Random(seed);
    try {
      for (int turn = 1; !stop.get(); turn++) {
        serve(store, random, 100 + random.nextInt(600));
        if (turn % 5 == 0) {
          store.maintenance().compact(0.9, Long.MAX_VALUE, false, (done, of, copied) -> true);
        }
      }
    } catch (Throwable e) {
      failure.set(e);
    }
  }

  private static void serve(SnapshotStore store, Random random, int count) {
    HybridModel model = new HybridModel(ModelConfig.tiny());
    int[] prompt = random.ints(count, 0, 128).toArray();
    try (Turn turn = new CachedModel(model, store, BLOCK_TOKENS).begin(prompt, 0)) {
      if (random.nextInt(4) > 0) {
        turn.finishPrompt(done -> {});
      }
    }
  }

  /** Whether this process still has a lock on the file, by the kernel's own list. */
  private static boolean isLocked(Path path) throws IOException {
    Path list = Path.of("/proc/locks");
    if (!Files.exists(list)) {
      return true;
    }
    Object inode = Files.getAttribute(path.resolve("LOCK"), "unix:ino");
    return Files.readAllLines(list).stream().anyMatch(line -> line.contains(":" + inode + " "));
  }
}
