package dev.waymark.faults;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.error.UnsupportedFileSystemException;
import dev.waymark.error.WaymarkException;
import dev.waymark.faults.FailingCalls.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * File systems that lack a call or do not tell the truth, as the preloaded library plays them:
 * either a store works on it, or it says that it cannot.
 *
 * <p>Arguments: a directory, the page that is shared with the library, a seed.
 */
public final class OddFileSystems {
  private static final long QUOTA_BYTES = 128L << 20;
  private static final int STEPS = 30;

  private final Path root;
  private final long seed;
  private final List<String> failures = new ArrayList<>();

  private OddFileSystems(Path root, long seed) {
    this.root = root;
    this.seed = seed;
  }

  /** Runs; exits with 1 if a store neither worked nor said why not. */
  public static void main(String[] arguments) throws Exception {
    Path root = Path.of(arguments[0]).toRealPath();
    FailingCalls calls = new FailingCalls(Path.of(arguments[1]), root);
    OddFileSystems run = new OddFileSystems(root, Long.parseLong(arguments[2]));
    run.works(calls, "nothing lacks", EnumSet.noneOf(Kind.class));
    run.works(calls, "no allocation, no punching", EnumSet.of(Kind.ALLOCATE, Kind.PUNCH));
    run.works(calls, "no punching", EnumSet.of(Kind.PUNCH));
    run.works(calls, "no maps", EnumSet.of(Kind.MAP));
    run.works(calls, "no maps, no allocation", EnumSet.of(Kind.MAP, Kind.ALLOCATE, Kind.PUNCH));
    calls.lieAboutBlocks(true);
    run.works(calls, "no count of blocks", EnumSet.noneOf(Kind.class));
    run.works(calls, "no count of blocks, no allocation", EnumSet.of(Kind.ALLOCATE, Kind.PUNCH));
    calls.lieAboutBlocks(false);
    calls.lack(EnumSet.of(Kind.LOCK));
    try {
      run.open("no locks").close();
      run.failures.add("no locks: it opened");
    } catch (UnsupportedFileSystemException e) {
      System.out.println("no locks: refused, " + e.getMessage());
    }
    run.failures.forEach(System.out::println);
    System.out.printf("odd file systems: %d failures, seed %d%n", run.failures.size(), run.seed);
    System.exit(run.failures.isEmpty() ? 0 : 1);
  }

  private void works(FailingCalls calls, String name, Set<Kind> lacks) throws Exception {
    calls.lack(lacks);
    Samples samples = new Samples(seed);
    Oracle oracle = new Oracle(event -> {});
    Checker checker = new Checker();
    Random random = new Random(seed);
    try {
      try (SnapshotStore store = open(name)) {
        Workload workload = new Workload(store, samples, oracle, seed, () -> false);
        for (int i = 0; i < STEPS; i++) {
          workload.step();
        }
        store.maintenance().compact(0.9, Long.MAX_VALUE, false, (done, of, copied) -> true);
        store.flush();
        checker.look(store, samples, oracle, random);
      }
      try (SnapshotStore store = open(name)) {
        checker.check(store, samples, oracle, random);
        checker.use(store, samples, oracle, random);
      }
    } catch (WaymarkException e) {
      failures.add(name + ": " + e);
    }
    // A count that is a lie cannot be what the account says.
    checker
        .other()
        .removeIf(other -> name.contains("count") && other.startsWith("the file system"));
    if (!checker.isGood()) {
      failures.add(name + ": " + checker.findings());
    }
    System.out.printf(
        "%s: %d restores compared, %d lost, %d wrong, %d other%n",
        name,
        checker.restores(),
        checker.lost().size(),
        checker.wrong().size(),
        checker.other().size());
    PowerLoss.remove(directory(name));
  }

  private Path directory(String name) {
    return root.resolve(name.replaceAll("[ ,]+", "-"));
  }

  private SnapshotStore open(String name) {
    return SnapshotStore.open(
        directory(name),
        StoreOptions.builder()
            .quota(QUOTA_BYTES)
            .group(256L << 10, 5)
            .maxInFlight(2L << 20)
            .build());
  }
}
