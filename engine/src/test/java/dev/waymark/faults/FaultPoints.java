package dev.waymark.faults;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreBridge;
import dev.waymark.StoreOptions;
import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.WaymarkException;
import dev.waymark.faults.FailingCalls.Kind;
import dev.waymark.faults.FailingCalls.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Fails every call to the operating system in turn, for three workloads, with an I/O error and with
 * a full disk, once and for good. Each time: what fails is typed; what still can be read is read;
 * once the cause is gone the open store takes appends again, or opens; nothing acknowledged is lost
 * and no restore is wrong; no descriptor and no map is left.
 *
 * <p>One JVM for all of it, under {@code LD_PRELOAD}: if it dies, that is the finding.
 *
 * <p>Arguments: a directory, the page that is shared with the library, a seed, which of the points
 * to try (every n-th) and, to replay, a workload, a fault and the number of a call.
 */
public final class FaultPoints {
  private static final long QUOTA_BYTES = 128L << 20;
  private static final int STEPS = 5;

  /** What the calls are those of. */
  private enum Work {
    /** A new store is made and written to. */
    WRITE,
    /** A store that a killed process left is opened, written to and compacted. */
    RECLAIM,
    /** A store that a killed process left is opened and read. */
    RESTORE
  }

  private static final Set<Kind> TAKE_SPACE =
      EnumSet.of(
          Kind.CREATE,
          Kind.WRITE,
          Kind.TRUNCATE,
          Kind.ALLOCATE,
          Kind.PUNCH,
          Kind.SYNC,
          Kind.MSYNC,
          Kind.RENAME,
          Kind.MKDIR);

  /** Whoever restores what is open already asks for no more than these. */
  private static final Set<Kind> NEEDED_TO_READ =
      EnumSet.of(Kind.OPEN, Kind.READ, Kind.MAP, Kind.STAT, Kind.LIST, Kind.CLOSE);

  /** How calls fail. */
  private enum Failing {
    ERROR_ONCE(5, Mode.ONCE, EnumSet.allOf(Kind.class)),
    ERROR_OF_A_KIND(5, Mode.SAME_KIND, EnumSet.allOf(Kind.class)),
    ERROR_FOR_GOOD(5, Mode.ALL_KINDS, EnumSet.allOf(Kind.class)),
    FULL_ONCE(28, Mode.ONCE, TAKE_SPACE),
    FULL_FOR_GOOD(28, Mode.ALL_KINDS, TAKE_SPACE);

    private final int errno;
    private final Mode mode;
    private final Set<Kind> kinds;

    Failing(int errno, Mode mode, Set<Kind> kinds) {
      this.errno = errno;
      this.mode = mode;
      this.kinds = kinds;
    }

    /** Whether a store whose files are open has to be readable all the time. */
    boolean leavesReads(Kind failed) {
      return switch (mode) {
        case ONCE, SAME_KIND -> !NEEDED_TO_READ.contains(failed);
        case ALL_KINDS -> errno == 28;
      };
    }
  }

  private final Path root;
  private final FailingCalls calls;
  private final long seed;
  private final Samples samples;
  private final Map<String, Long> kinds = new TreeMap<>();
  private Path template;
  private Map<String, Oracle.Required> inTemplate = Map.of();
  private Path directory;
  private int cycle;
  private String point = "";

  private long points;
  private long typed;
  private long resumed;
  private long reopened;
  private long restores;
  private long lost;
  private long wrong;
  private long other;

  private FaultPoints(Path root, FailingCalls calls, long seed) {
    this.root = root;
    this.calls = calls;
    this.seed = seed;
    this.samples = new Samples(seed);
  }

  /** Runs; exits with 1 if anything was not as it has to be. */
  public static void main(String[] arguments) throws Exception {
    Path root = Path.of(arguments[0]).toRealPath();
    FailingCalls calls = new FailingCalls(Path.of(arguments[1]), root);
    FaultPoints run = new FaultPoints(root, calls, Long.parseLong(arguments[2]));
    run.makeTemplate();
    if (arguments.length > 4) {
      run.point(
          Work.valueOf(arguments[4]), Failing.valueOf(arguments[5]), Long.parseLong(arguments[6]));
    } else {
      for (Work work : Work.values()) {
        run.all(work, Integer.parseInt(arguments[3]));
      }
    }
    System.out.println("calls that failed, by kind: " + run.kinds);
    System.out.printf(
        "fault points: %d, %d typed errors, %d times appends resumed in the open store, %d stores"
            + " reopened, %d restores compared, %d lost, %d wrong, %d other failures, seed %d%n",
        run.points,
        run.typed,
        run.resumed,
        run.reopened,
        run.restores,
        run.lost,
        run.wrong,
        run.other,
        run.seed);
    System.exit(run.lost + run.wrong + run.other == 0 ? 0 : 1);
  }

  /** What a process leaves that is killed while sessions are open. */
  private void makeTemplate() throws IOException {
    template = root.resolve("template");
    directory = template;
    SnapshotStore store = open();
    steps(store, new Oracle(event -> {}), 8 * STEPS);
    StoreBridge.abandon(store);
    directory = copy(template);
    Oracle oracle = new Oracle(event -> {});
    try (SnapshotStore copy = open()) {
      new Checker().check(copy, samples, oracle, new Random(seed));
    }
    PowerLoss.remove(directory);
    inTemplate = oracle.opened();
  }

  private void all(Work work, int every) throws IOException {
    for (Failing failing : Failing.values()) {
      long count = count(work, failing);
      long before = points;
      for (long n = 1 + seed % every; n <= count; n += every) {
        point(work, failing, n);
      }
      System.out.printf(
          "%s, %s: %d of %d calls, %d lost, %d wrong, %d other%n",
          work, failing, points - before, count, lost, wrong, other);
    }
  }

  /** How many calls there are to fail. */
  private long count(Work work, Failing failing) throws IOException {
    cycle(work, failing, Long.MAX_VALUE);
    return calls.calls();
  }

  private void point(Work work, Failing failing, long n) throws IOException {
    point = work + " " + failing + " " + n;
    cycle(work, failing, n);
    points++;
    if (calls.failures() > 0) {
      kinds.merge(calls.failedKind().name(), 1L, Long::sum);
    }
  }

  private void cycle(Work work, Failing failing, long n) throws IOException {
    directory = work == Work.WRITE ? root.resolve("store-" + cycle++) : copy(template);
    Oracle oracle = new Oracle(event -> {});
    if (work != Work.WRITE) {
      oracle.reopened(inTemplate);
    }
    calls.arm(n, failing.mode, failing.errno, failing.kinds);
    SnapshotStore store = typed(this::open);
    if (store != null) {
      work(work, store, oracle);
      if (calls.failures() > 0) {
        read(store, oracle, failing.leavesReads(calls.failedKind()));
        calls.disarm();
        resume(store, oracle);
      }
      typed(
          () -> {
            store.close();
            return null;
          });
    }
    calls.disarm();
    nothingIsOpen();
    reopen(oracle);
    nothingIsOpen();
    PowerLoss.remove(directory);
  }

  private void work(Work work, SnapshotStore store, Oracle oracle) {
    switch (work) {
      case WRITE -> steps(store, oracle, STEPS);
      case RECLAIM -> {
        steps(store, oracle, STEPS);
        typed(
            () ->
                store
                    .maintenance()
                    .compact(0.9, Long.MAX_VALUE, false, (done, of, copied) -> true));
        typed(store::runOnce);
        steps(store, oracle, 1);
        typed(store::enforce);
      }
      case RESTORE -> read(store, oracle, calls.failures() == 0);
    }
  }

  private void steps(SnapshotStore store, Oracle oracle, int count) {
    Workload workload = new Workload(store, samples, oracle, seed, () -> false);
    for (int i = 0; i < count; i++) {
      typed(
          () -> {
            workload.step();
            return null;
          });
      if (i % 2 == 0) {
        typed(store::runOnce);
      }
    }
  }

  /** Reads everything; with a fault in force what is missing counts only if it has to be there. */
  private void read(SnapshotStore store, Oracle oracle, boolean allThere) {
    long failuresBefore = calls.failures();
    Checker checker = new Checker();
    try {
      checker.look(store, samples, oracle, new Random(seed));
    } catch (WaymarkException e) {
      typed++;
      return;
    } catch (Throwable e) {
      report("reading: " + e, e);
      return;
    }
    restores += checker.restores();
    wrong += checker.wrong().size();
    boolean mayMiss = !allThere || (calls.failures() > failuresBefore && failuresBefore == 0);
    if (!mayMiss) {
      lost += checker.lost().size();
    }
    if (!checker.wrong().isEmpty() || (!mayMiss && !checker.lost().isEmpty())) {
      System.out.println(point + ", reading with the fault:\n" + checker.findings());
    }
  }

  /** With the cause gone and the store still open. */
  private void resume(SnapshotStore store, Oracle oracle) {
    try {
      store.flush();
    } catch (DurabilityLostException e) {
      typed++; // said once, of what was never acknowledged
    } catch (Throwable e) {
      report("flushing with the cause gone: " + e, e);
      return;
    }
    Checker checker = new Checker();
    try {
      checker.use(store, samples, oracle, new Random(seed));
      checker.look(store, samples, oracle, new Random(seed));
    } catch (Throwable e) {
      report("going on with the cause gone: " + e, e);
      return;
    }
    resumed++;
    count(checker, "going on");
  }

  private void reopen(Oracle oracle) {
    try (SnapshotStore store = open()) {
      Checker checker = new Checker();
      checker.check(store, samples, oracle, new Random(seed));
      checker.use(store, samples, oracle, new Random(seed));
      reopened++;
      count(checker, "reopened");
    } catch (Throwable e) {
      report("reopening: " + e, e);
    }
  }

  private void count(Checker checker, String when) {
    lost += checker.lost().size();
    wrong += checker.wrong().size();
    other += checker.other().size();
    restores += checker.restores();
    if (!checker.isGood()) {
      System.out.println(point + ", " + when + ":\n" + checker.findings());
    }
  }

  private void nothingIsOpen() throws IOException {
    List<String> open = FileSystemHelper.stillOpen(directory.toString());
    if (!open.isEmpty()) {
      report("left open: " + open, null);
    }
  }

  private SnapshotStore open() {
    return SnapshotStore.open(
        directory,
        StoreOptions.builder()
            .quota(QUOTA_BYTES)
            .group(256L << 10, 1)
            .maxInFlight(2L << 20)
            .backgroundThread(false)
            .restoreThreads(1)
            .build());
  }

  private <T> T typed(Supplier<T> action) {
    try {
      return action.get();
    } catch (WaymarkException e) {
      typed++;
      if (calls.failures() == 0) {
        report("an error without a fault: " + e, e);
      }
    } catch (WrongBytesError e) {
      wrong++;
      report(e.toString(), e);
    } catch (Throwable e) {
      report("not typed: " + e, e);
    }
    return null;
  }

  private void report(String what, Throwable failure) {
    other++;
    System.out.println(point + ": " + what);
    if (failure != null) {
      failure.printStackTrace(System.out);
    }
  }

  private Path copy(Path from) throws IOException {
    Path to = root.resolve("store-" + cycle++);
    List<Path> paths = new ArrayList<>();
    try (Stream<Path> walk = Files.walk(from)) {
      walk.forEach(paths::add);
    }
    for (Path path : paths) {
      Files.copy(path, to.resolve(from.relativize(path)));
    }
    return to;
  }
}
