package dev.waymark.faults;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreBridge;
import dev.waymark.StoreOptions;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

/**
 * Cuts the power of a real file system at random moments, again and again, under a store that two
 * threads write to; each time mounts it anew and checks what is in it. One JVM for all cycles: it
 * has to survive the file system's end under its maps, and it is the oracle's safe place.
 *
 * <p>Arguments: the helper program, cycles, seed, and for each file system its type, device and
 * mount point.
 */
public final class PowerLoss {
  static final long QUOTA_BYTES = 128L << 20;

  private final FileSystemHelper helper;
  private final String type;
  private final String device;
  private final Path mountPoint;
  private final long seed;
  private final Random random;
  private Samples samples;
  private Oracle oracle;
  private long epoch;
  private Path directory;
  private volatile boolean powerOff;

  private long losses;
  private long duringOpen;
  private long duringClose;
  private long lost;
  private long wrong;
  private long other;
  private long acknowledged;
  private long late;
  private long restores;

  private PowerLoss(
      FileSystemHelper helper, String type, String device, Path mountPoint, long seed) {
    this.helper = helper;
    this.type = type;
    this.device = device;
    this.mountPoint = mountPoint;
    this.seed = seed;
    this.random = new Random(seed);
  }

  /** Runs all cycles on all file systems; exits with 1 if anything was lost or wrong. */
  public static void main(String[] arguments) throws Exception {
    int cycles = Integer.parseInt(arguments[1]);
    long seed = Long.parseLong(arguments[2]);
    List<String> counts = new ArrayList<>();
    long lost = 0;
    long wrong = 0;
    long other = 0;
    try (FileSystemHelper helper = new FileSystemHelper(arguments[0])) {
      for (int i = 3; i < arguments.length; i += 3) {
        PowerLoss run =
            new PowerLoss(
                helper, arguments[i], arguments[i + 1], Path.of(arguments[i + 2]), seed + i);
        long start = System.nanoTime();
        run.cycles(cycles);
        System.out.printf(
            "%s: %d power losses (%d while opening, %d while closing), %d acknowledgements"
                + " (%d more too late to count), %d restores compared, %d lost, %d wrong, %d other failures, %d s, seed %d%n",
            run.type,
            run.losses,
            run.duringOpen,
            run.duringClose,
            run.acknowledged,
            run.late,
            run.restores,
            run.lost,
            run.wrong,
            run.other,
            (System.nanoTime() - start) / 1_000_000_000,
            seed);
        counts.add(run.losses + " on " + run.type);
        lost += run.lost;
        wrong += run.wrong;
        other += run.other;
      }
    }
    System.out.printf(
        "real power losses: %s, %d lost, %d wrong%n", String.join(", ", counts), lost, wrong);
    System.exit(lost + wrong + other == 0 ? 0 : 1);
  }

  private void cycles(int count) throws Exception {
    helper.mount(type, device, mountPoint.toString());
    fresh();
    SnapshotStore store = open();
    long shown = 0;
    while (losses < count) {
      work(store);
      if (losses / 100 > shown) {
        shown = losses / 100;
        System.out.printf(
            "%s: %d power losses, %d lost, %d wrong, %d other%n", type, losses, lost, wrong, other);
      }
      store = afterLoss();
      if (store.stats().allocatedBytes() > QUOTA_BYTES / 3) {
        store.close();
        fresh();
        store = open();
      }
    }
    store.close();
    count();
    helper.unmount(mountPoint.toString());
  }

  /** A new directory, with content that no old block on the device holds. */
  private void fresh() throws IOException {
    if (directory != null) {
      count();
      remove(directory);
    }
    epoch++;
    directory = mountPoint.resolve("store-" + epoch);
    if (Files.exists(directory)) {
      remove(directory);
    }
    samples = new Samples(seed * 1_000 + epoch);
    oracle = new Oracle(line -> {});
  }

  private void count() {
    acknowledged += oracle.acknowledged();
    late += oracle.late();
  }

  private SnapshotStore open() {
    return SnapshotStore.open(
        directory,
        StoreOptions.builder()
            .quota(QUOTA_BYTES)
            .group(256L << 10, 1 + random.nextInt(20))
            .maxInFlight(2L << 20)
            .build());
  }

  /** Two threads at work until the power goes; sometimes it goes while the store is closing. */
  private void work(SnapshotStore store) throws Exception {
    powerOff = false;
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Workload workload = new Workload(store, samples, oracle, random.nextLong(), () -> powerOff);
      threads.add(start(workload::run, failures));
    }
    boolean closing = random.nextInt(6) == 0;
    Thread.sleep(random.nextInt(random.nextInt(8) == 0 ? 300 : 60));
    if (closing) {
      duringClose++;
      threads.add(start(store::close, failures));
      Thread.sleep(random.nextInt(12));
    }
    powerOff = true;
    oracle.powerGoes();
    helper.cut(mountPoint.toString());
    losses++;
    for (Thread thread : threads) {
      thread.join();
    }
    failures.forEach(this::report);
    StoreBridge.abandon(store);
    helper.unmount(mountPoint.toString());
    helper.mount(type, device, mountPoint.toString());
  }

  private Thread start(Runnable task, Queue<Throwable> failures) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (Throwable e) {
                boolean expected = e instanceof WaymarkException && mayFail(e);
                if (!expected) {
                  failures.add(e);
                }
              }
            });
    thread.start();
    return thread;
  }

  /** With the power on, nothing but a full quota or a closed store may fail. */
  private boolean mayFail(Throwable failure) {
    return powerOff
        || failure instanceof QuotaExceededException
        || failure instanceof dev.waymark.error.ClosedException
        || failure instanceof dev.waymark.error.StoreIoException;
  }

  private SnapshotStore afterLoss() throws Exception {
    while (random.nextInt(5) == 0) {
      cutWhileOpening();
    }
    SnapshotStore store = open();
    Checker checker = new Checker();
    checker.check(store, samples, oracle, random);
    checker.use(store, samples, oracle, random);
    lost += checker.lost().size();
    wrong += checker.wrong().size();
    other += checker.other().size();
    restores += checker.restores();
    if (!checker.isGood()) {
      System.out.printf(
          "%s, power loss %d, seed %d:%n%s%n%s%n",
          type, losses, seed, checker.findings(), store.recovery());
    }
    return store;
  }

  /** Recovery has to survive its own end. */
  private void cutWhileOpening() throws Exception {
    losses++;
    duringOpen++;
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    powerOff = false;
    SnapshotStore[] opened = new SnapshotStore[1];
    Thread opener = start(() -> opened[0] = open(), failures);
    Thread.sleep(random.nextInt(25));
    powerOff = true;
    helper.cut(mountPoint.toString());
    opener.join();
    if (opened[0] != null) {
      StoreBridge.abandon(opened[0]);
    }
    failures.forEach(this::report);
    helper.unmount(mountPoint.toString());
    helper.mount(type, device, mountPoint.toString());
  }

  private void report(Throwable failure) {
    if (failure instanceof WrongBytesError) {
      wrong++;
    } else {
      other++;
    }
    System.out.println(type + ", power loss " + losses + ", seed " + seed + ":");
    failure.printStackTrace(System.out);
  }

  static void remove(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
