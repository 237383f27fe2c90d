package dev.waymark.faults;

import dev.waymark.PrefixMatch;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreVerifier;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Cuts segments short while threads restore from them, verify them, copy out of them and append.
 * What was cut off is gone: but nothing says that it was right, no error is without a type, and the
 * JVM lives.
 *
 * <p>Arguments: a directory, rounds, a seed.
 */
public final class CutShort {
  private static final long QUOTA_BYTES = 128L << 20;
  private static final int STORED = 60;
  private static final int CUTS = 12;

  /** More records than one prompt has. */
  private static final int DAMAGED_RECORDS = 200;

  private final Path directory;
  private final Samples samples;
  private final Random random;
  private final AtomicLong right = new AtomicLong();
  private final AtomicLong typed = new AtomicLong();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private long cuts;
  private volatile boolean stopped;

  private CutShort(Path directory, long seed) {
    this.directory = directory;
    this.samples = new Samples(seed);
    this.random = new Random(seed);
  }

  /** Runs; exits with 1 if an error had no type or a restore was wrong. */
  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[1]);
    long seed = Long.parseLong(arguments[2]);
    long cuts = 0;
    long right = 0;
    long typed = 0;
    long failed = 0;
    for (int i = 0; i < rounds; i++) {
      CutShort round = new CutShort(Path.of(arguments[0]).resolve("store-" + i), seed + i);
      round.run();
      cuts += round.cuts;
      right += round.right.get();
      typed += round.typed.get();
      failed += round.failures.size();
      for (Throwable failure : round.failures) {
        System.out.println("round with seed " + (seed + i) + ":");
        failure.printStackTrace(System.out);
      }
    }
    System.out.printf(
        "segments cut short: %d, %d calls right, %d typed errors, %d other failures, seed %d,"
            + " Java %s%n",
        cuts, right, typed, failed, seed, Runtime.version());
    System.exit(failed == 0 ? 0 : 1);
  }

  private void run() throws Exception {
    Oracle oracle = new Oracle(event -> {});
    try (SnapshotStore store = open()) {
      Workload before = new Workload(store, samples, oracle, random.nextLong(), () -> false);
      for (int i = 0; i < STORED; i++) {
        before.step();
      }
      store.flush();
      List<Thread> threads = new ArrayList<>();
      long seed = random.nextLong();
      Random order = new Random(seed);
      threads.add(repeat(() -> restore(store, order)));
      threads.add(
          repeat(() -> StoreVerifier.verify(directory, StoreVerifier.Level.CHECKSUM, bytes -> {})));
      threads.add(
          repeat(
              () -> store.maintenance().compact(1, Long.MAX_VALUE, false, (done, of, to) -> true)));
      Workload beside = new Workload(store, samples, oracle, seed, () -> stopped);
      threads.add(repeat(beside::step));
      for (int i = 0; i < CUTS; i++) {
        long enough = right.get() + typed.get() + 20;
        while (right.get() + typed.get() < enough) {
          Thread.onSpinWait();
        }
        cut();
      }
      stopped = true;
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (WaymarkException e) {
      typed.incrementAndGet();
    } finally {
      stopped = true;
    }
    FileSystemHelper.expectNothingOpen(directory);
    // The store opens with what it still has, and takes more.
    Checker checker = new Checker();
    try (SnapshotStore store = open()) {
      checker.use(store, samples, oracle, random, DAMAGED_RECORDS);
      restore(store, random);
    } catch (WaymarkException e) {
      typed.incrementAndGet();
    }
    checker.wrong().forEach(wrong -> failures.add(new WrongBytesError(wrong)));
    checker.other().forEach(other -> failures.add(new AssertionError(other)));
    PowerLoss.remove(directory);
  }

  private SnapshotStore open() {
    return SnapshotStore.open(
        directory,
        StoreOptions.builder()
            .quota(QUOTA_BYTES)
            .group(256L << 10, 5)
            .maxInFlight(2 << 20)
            .build());
  }

  private void restore(SnapshotStore store, Random order) {
    Sample sample = samples.all().get(order.nextInt(samples.all().size()));
    PrefixMatch match = Samples.namespace(store, sample).match(sample.tokens());
    for (int at : match.points()) {
      try {
        String difference = sample.compare(match, at);
        if (difference != null) {
          throw new WrongBytesError(difference);
        }
        right.incrementAndGet();
      } catch (WaymarkException e) {
        typed.incrementAndGet();
      }
    }
  }

  private Thread repeat(Runnable action) {
    Thread thread =
        new Thread(
            () -> {
              while (!stopped) {
                try {
                  action.run();
                  right.incrementAndGet();
                } catch (WaymarkException e) {
                  typed.incrementAndGet();
                } catch (Throwable e) {
                  failures.add(e);
                }
              }
            });
    thread.start();
    return thread;
  }

  /** Takes the end of one segment away, sometimes all of it. */
  private void cut() throws IOException {
    List<Path> segments;
    try (Stream<Path> files = Files.list(directory)) {
      segments = files.filter(file -> file.toString().endsWith(".seg")).sorted().toList();
    }
    if (segments.isEmpty()) {
      return;
    }
    Path segment = segments.get(random.nextInt(segments.size()));
    try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      long length = channel.size();
      channel.truncate(random.nextInt(3) == 0 ? 0 : (long) (length * random.nextDouble()));
      cuts++;
    } catch (NoSuchFileException e) {
      return; // it was emptied and removed meanwhile
    }
  }
}
