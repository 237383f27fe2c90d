package dev.waymark.explore;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Explores from the command line until so many states were seen, or for so long.
 *
 * <p>Options: {@code --states N}, {@code --nested N}: until both are reached; {@code --seconds T}:
 * not longer than that, and not beyond 20 findings; {@code --seed S}: the first workload's seed,
 * each next one's is one more; {@code --threads N}; {@code --replay S}: that one workload and
 * nothing else, told step by step; {@code --kills-only}: no loss of power; {@code --no-faults}: no
 * call fails; {@code --count}: what the stores of the workloads did, and how often. The last line
 * says what was found; the exit code is 0 only if that is nothing.
 */
public final class Explore {
  /** Where nothing works, no state would ever be reached. */
  private static final int MOST_FINDINGS = 20;

  private static final long PROGRESS_STATES = 100_000;

  private long states = 10_000;
  private long nested = 500;
  private long seed = 1;
  private long seconds = Long.MAX_VALUE / 2_000_000_000L;
  private int threads = 2;
  private boolean replay;
  private boolean count;
  private Scope scope = Scope.all();

  private final Tally total = new Tally();
  private final AtomicLong nextSeed = new AtomicLong();
  private final LongAdder statesDone = new LongAdder();
  private final LongAdder nestedDone = new LongAdder();
  private final AtomicBoolean enough = new AtomicBoolean();
  private int findings;

  /**
   * An exploration.
   *
   * @throws IllegalArgumentException if the options are not understood
   */
  Explore(String... args) {
    parse(args);
  }

  /** Runs. */
  public static void main(String[] args) throws InterruptedException {
    Explore explore;
    try {
      explore = new Explore(args);
    } catch (IllegalArgumentException e) {
      System.err.println(
          e.getMessage()
              + "\nusage: explore [--states N] [--nested N] [--seconds T] [--seed S] [--threads N]"
              + " [--replay S] [--kills-only] [--no-faults] [--count]");
      System.exit(2);
      return;
    }
    Tally tally = explore.run();
    System.exit(tally.isClean() ? 0 : 1);
  }

  private void parse(String[] args) {
    for (int i = 0; i < args.length; i++) {
      if (args[i].equals("--kills-only")) {
        scope = scope.killsOnly();
        continue;
      }
      if (args[i].equals("--count")) {
        count = true;
        continue;
      }
      if (args[i].equals("--no-faults")) {
        scope = scope.withoutFaults();
        continue;
      }
      if (i + 1 == args.length) {
        throw new IllegalArgumentException("no value for " + args[i]);
      }
      long value = Long.parseLong(args[i + 1]);
      switch (args[i++]) {
        case "--states" -> states = value;
        case "--nested" -> nested = value;
        case "--seconds" -> seconds = value;
        case "--seed" -> seed = value;
        case "--threads" -> threads = (int) value;
        case "--replay" -> {
          seed = value;
          threads = 1;
          replay = true;
        }
        default -> throw new IllegalArgumentException("unknown option " + args[i - 1]);
      }
    }
  }

  /** Explores, and prints what was found. */
  Tally run() throws InterruptedException {
    long start = System.nanoTime();
    long deadline = start + seconds * 1_000_000_000L;
    nextSeed.set(seed);
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread worker = new Thread(() -> work(deadline), "explorer-" + i);
      worker.start();
      workers.add(worker);
    }
    for (Thread worker : workers) {
      worker.join();
    }
    double took = (System.nanoTime() - start) / 1e9;
    double cpu =
        ProcessHandle.current().info().totalCpuDuration().map(Duration::toMillis).orElse(1L) / 1e3;
    System.out.printf(
        "%d workloads, seeds %d to %d, %.1f s, %.0f states/s, %.0f states a CPU second%n",
        total.workloads, seed, nextSeed.get() - 1, took, total.states / took, total.states / cpu);
    if (count) {
      total.did.forEach((what, times) -> System.out.println(times + "\t" + what));
    }
    System.out.println(total.line());
    return total;
  }

  private void work(long deadline) {
    Tally tally = new Tally();
    while (!enough.get() && System.nanoTime() < deadline) {
      long before = tally.states;
      long nestedBefore = tally.nested;
      long own = nextSeed.getAndIncrement();
      try {
        new Workload(own, scope, tally, replay ? System.out::println : line -> {}).run();
      } catch (Violation e) {
        tally.count(e);
        report(own, e);
      } catch (Throwable e) {
        Violation violation = new Violation(Violation.Kind.UNUSABLE, e.toString(), e);
        tally.count(violation);
        report(own, violation);
      }
      long sum = statesDone.sum();
      statesDone.add(tally.states - before);
      if (statesDone.sum() / PROGRESS_STATES > sum / PROGRESS_STATES) {
        System.out.println(statesDone.sum() + " states, up to seed " + own);
      }
      nestedDone.add(tally.nested - nestedBefore);
      if (replay || (statesDone.sum() >= states && nestedDone.sum() >= nested)) {
        enough.set(true);
      }
    }
    synchronized (total) {
      total.add(tally);
    }
  }

  private synchronized void report(long own, Violation violation) {
    System.out.println(violation.kind + ": " + violation.getMessage());
    System.out.println("  replay: tools/bin/explore --replay " + own + scope.options());
    if (replay) {
      violation.printStackTrace(System.out);
    }
    if (++findings == MOST_FINDINGS) {
      System.out.println("That is enough: it ends here.");
      enough.set(true);
    }
  }
}
