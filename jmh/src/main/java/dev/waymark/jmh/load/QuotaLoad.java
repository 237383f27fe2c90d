package dev.waymark.jmh.load;

import dev.waymark.CompactionReport;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStats;
import dev.waymark.error.StaleMatchException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.EvictionPolicy;
import dev.waymark.layout.ModelIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * A store at its quota: 4 threads prefill and 2 restore, every byte checked, while compaction is
 * told to copy everything that lives, ten seconds in twenty, at so many bytes a second.
 *
 * <p>Arguments: directory, seconds, quota, bytes a second, {@code punch} or {@code no-punch}. The
 * exit code is 0 if no call failed, the quota held, no more was held in the second half than in the
 * first, and the 99th percentile of an append while compacting is at most three times that without.
 */
public final class QuotaLoad {
  private static final int PREFILLS = 4;
  private static final int RESTORES = 2;
  private static final int TREES = 60;
  private static final int BRANCHES = 6;
  private static final long PHASE_NANOS = 10_000_000_000L;
  private static final int SAMPLES = 10;

  private final SnapshotStore store;
  private final Namespace namespace;
  private final long endNanos;
  private final Latencies quiet = new Latencies();
  private final Latencies compacting = new Latencies();
  private final LongAdder restores = new LongAdder();
  private final LongAdder stale = new LongAdder();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean copies;

  private QuotaLoad(SnapshotStore store, long seconds) {
    this.store = store;
    this.namespace =
        store.namespace(ModelIdentity.builder().weights("load").build(), Prompt.LAYOUT);
    this.endNanos = System.nanoTime() + seconds * 1_000_000_000L;
  }

  /** Runs. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path directory = Path.of(args[0]);
    long seconds = args.length > 1 ? Long.parseLong(args[1]) : 300;
    String quota = args.length > 2 ? args[2] : "1GiB";
    long rate = StoreOptions.parseSize(args.length > 3 ? args[3] : "64MiB");
    boolean punches = args.length < 5 || args[4].equals("punch");
    StoreOptions options =
        StoreOptions.builder()
            .quota(quota)
            .punchHoles(punches)
            .eviction(EvictionPolicy.LRU)
            .compactionRate(rate)
            .build();
    boolean good;
    try (SnapshotStore store = SnapshotStore.open(directory, options)) {
      good = new QuotaLoad(store, seconds).run(seconds);
    }
    System.exit(good ? 0 : 1);
  }

  private boolean run(long seconds) throws IOException, InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < PREFILLS; i++) {
      SplittableRandom random = new SplittableRandom(i);
      threads.add(worker("prefill-" + i, () -> prefill(random)));
    }
    for (int i = 0; i < RESTORES; i++) {
      SplittableRandom random = new SplittableRandom(100 + i);
      threads.add(worker("restore-" + i, () -> restore(random)));
    }
    threads.add(worker("compact", this::compact));
    List<Footprint> footprints = new ArrayList<>();
    long start = System.nanoTime();
    for (int i = 1; i <= SAMPLES && failure.get() == null; i++) {
      while (System.nanoTime() < start + i * seconds * 1_000_000_000L / SAMPLES) {
        Thread.sleep(50);
        requireWithinQuota();
      }
      Footprint footprint = Footprint.take();
      footprints.add(footprint);
      System.out.printf("%4d s: %s%n", i * seconds / SAMPLES, footprint);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return report(footprints);
  }

  private void requireWithinQuota() {
    StoreStats stats = store.stats();
    if (stats.allocatedBytes() > stats.quotaBytes()) {
      failure.compareAndSet(null, new AssertionError("above the quota: " + stats));
    }
  }

  private Thread worker(String name, Runnable step) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (System.nanoTime() < endNanos && failure.get() == null) {
                  step.run();
                }
              } catch (RuntimeException | Error e) {
                failure.compareAndSet(null, e);
              }
            },
            name);
    thread.start();
    return thread;
  }

  private static Prompt prompt(SplittableRandom random) {
    int tree = (int) (TREES * Math.pow(random.nextDouble(), 2));
    return new Prompt(tree, random.nextInt(BRANCHES), 12 + random.nextInt(36));
  }

  private void prefill(SplittableRandom random) {
    Prompt prompt = prompt(random);
    int[] tokens = prompt.tokens();
    PrefillPlan plan =
        PrefillPlan.tokens(tokens.length)
            .onAbort(random.nextBoolean() ? AbortMode.KEEP : AbortMode.DISCARD);
    PrefixMatch match = namespace.match(tokens);
    try (PrefillSession session = namespace.prefill(match, plan)) {
      boolean aborts = random.nextInt(10) == 0;
      int end = aborts ? tokens.length / 2 : tokens.length - 1;
      while (session.tokens() + Prompt.BLOCK <= end) {
        int to = session.tokens() + Prompt.BLOCK;
        int[] block = Arrays.copyOfRange(tokens, session.tokens(), to);
        var views = prompt.views(to);
        boolean beside = copies;
        long start = System.nanoTime();
        session.append(block, views);
        long took = System.nanoTime() - start;
        if (beside == copies) {
          (beside ? compacting : quiet).add(took);
        }
      }
      if (!aborts) {
        session.promptComplete();
      }
    } catch (StaleMatchException e) {
      // The chain went between two calls: a server matches again.
      stale.increment();
    }
  }

  private void restore(SplittableRandom random) {
    Prompt prompt = prompt(random);
    PrefixMatch match = namespace.match(prompt.tokens());
    int[] points = match.points();
    if (points.length == 0) {
      return;
    }
    int at = points[random.nextInt(points.length)];
    try (RestoredState state = match.restore(at)) {
      Prompt.Target target = new Prompt.Target(at);
      state.read(target.views());
      state.finish();
      if (!target.holds(prompt)) {
        failure.compareAndSet(null, new AssertionError("wrong bytes at " + at + " tokens"));
      }
      restores.increment();
    } catch (StaleMatchException e) {
      // The point went between match and restore.
      stale.increment();
    }
  }

  /** Ten seconds of copying, then ten of none. */
  private void compact() {
    pause(PHASE_NANOS);
    long until = Math.min(endNanos, System.nanoTime() + PHASE_NANOS);
    CompactionReport.Progress progress =
        new CompactionReport.Progress() {
          @Override
          public boolean emptied(int done, int of, long copiedBytes) {
            return true;
          }

          @Override
          public boolean isCancelled() {
            return System.nanoTime() >= until;
          }
        };
    copies = true;
    while (System.nanoTime() < until && failure.get() == null) {
      CompactionReport report = store.maintenance().compact(1, Long.MAX_VALUE, false, progress);
      if (report.emptiedSegments() == 0) {
        pause(10_000_000);
      }
    }
    copies = false;
  }

  private static void pause(long nanos) {
    try {
      Thread.sleep(Math.max(0, nanos / 1_000_000));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean report(List<Footprint> footprints) {
    StoreStats stats = store.stats();
    double ratio = compacting.millis(99) / quiet.millis(99);
    System.out.printf(
        "append alone: %,d, p50 %.3f ms, p99 %.3f ms; while compacting: %,d, p50 %.3f ms, p99 %.3f"
            + " ms; ratio of p99 %.2f%n",
        quiet.count(),
        quiet.millis(50),
        quiet.millis(99),
        compacting.count(),
        compacting.millis(50),
        compacting.millis(99),
        ratio);
    System.out.printf(
        "%,d restores checked, %,d misses, %,d matches gone stale, %,d boundaries evicted%n",
        restores.sum(), stats.restoreMisses(), stale.sum(), stats.evictedBoundaries());
    System.out.printf(
        "appended %,d MiB, written %,d MiB, copied %,d MiB, allocated %,d of %,d MiB, %d segments%n",
        stats.appendedBytes() >> 20,
        stats.writtenBytes() >> 20,
        stats.copiedBytes() >> 20,
        stats.allocatedBytes() >> 20,
        stats.quotaBytes() >> 20,
        stats.segments());
    boolean grew = false;
    if (failure.get() == null) {
      Footprint first = Footprint.most(footprints.subList(0, SAMPLES / 2));
      Footprint second = Footprint.most(footprints.subList(SAMPLES / 2, SAMPLES));
      grew = second.exceeds(first);
      System.out.println("most in the first half: " + first + "; in the second: " + second);
    } else {
      failure.get().printStackTrace(System.out);
    }
    boolean good = failure.get() == null && !grew && ratio <= 3;
    System.out.println(good ? "good" : "NOT GOOD");
    return good;
  }
}
