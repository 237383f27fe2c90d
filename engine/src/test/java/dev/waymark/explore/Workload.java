package dev.waymark.explore;

import dev.waymark.Durability;
import dev.waymark.RecoveryReport;
import dev.waymark.StoreStats;
import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.WaymarkException;
import dev.waymark.explore.Space.Leaf;
import dev.waymark.sim.CrashState;
import dev.waymark.sim.CrashStates;
import dev.waymark.sim.Fault;
import dev.waymark.sim.Interleaver;
import dev.waymark.sim.SimulatedDirectory;
import dev.waymark.sim.SimulationSettings;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * One seeded workload and the crash states around it; everything follows from the seed. The
 * workload runs once. At calls that change something the disk is forked into states, and each is
 * opened and looked at there and then, while the workload waits.
 */
final class Workload {
  /** A crash; one in the recovery from it; and one more. */
  private static final int DEPTH_LIMIT = 3;

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final long seed;
  private final Scope scope;
  private final Tally tally;
  private final Consumer<String> log;
  private final SplittableRandom dice;
  private final boolean faulty;
  private final World.Kind kind;
  private final Set<Long> seen = new HashSet<>();
  private final Deque<String> trail = new ArrayDeque<>();
  private String where = "";
  private long clock = 1_700_000_000_000L;
  private int states;

  /** So many states may be spent until the present life ends: the last ones get their share. */
  private int mostStates;

  /**
   * A workload.
   *
   * @param log told each step; for a replay
   */
  Workload(long seed, Scope scope, Tally tally, Consumer<String> log) {
    this.log = log;
    this.seed = seed;
    this.scope = scope;
    this.tally = tally;
    this.dice = new SplittableRandom(seed);
    this.faulty = scope.faults() && dice.nextInt(3) == 0;
    boolean full = !faulty && dice.nextInt(3) == 0;
    boolean churned = !full && dice.nextInt(4) == 0;
    this.kind = full ? World.Kind.FULL : churned ? World.Kind.CHURNED : World.Kind.PLAIN;
  }

  /**
   * Runs.
   *
   * @throws Violation if a promise was broken
   */
  void run() {
    tally.workloads++;
    SimulationSettings settings =
        SimulationSettings.defaults()
            .seed(seed)
            .observeEachCall(dice.nextInt(4) == 0)
            .dropAfterFailedForce(dice.nextInt(3) > 0)
            .strictDirectoryForce(!faulty)
            .traits(true, true, kind == World.Kind.PLAIN || dice.nextInt(3) > 0);
    SimulatedDirectory disk = new SimulatedDirectory(settings);
    World world =
        switch (kind) {
          case PLAIN -> World.any(dice);
          case CHURNED -> World.churned(dice);
          case FULL -> World.full(dice);
        };
    world.furnish(disk);
    try {
      boolean churned = kind == World.Kind.CHURNED;
      int steps = dice.nextInt(14) + (kind == World.Kind.FULL ? 60 : churned ? 14 : 6);
      // What an earlier process wrote is sealed, and so can be compacted.
      int lives = (churned ? 2 : 1) + dice.nextInt(3);
      live(disk, world, new Oracle(), dice, 0, lives, steps, faulty);
    } catch (Violation e) {
      throw new Violation(e.kind, e.getMessage() + "\n  " + where, e);
    } catch (RuntimeException | AssertionError e) {
      throw new Violation(Violation.Kind.UNUSABLE, e + "\n  " + trail, e);
    }
  }

  private long now() {
    return clock += 7;
  }

  /** Remembers where the first violation was found, while the trail still leads there. */
  private Violation at(Violation violation) {
    if (where.isEmpty()) {
      log.accept("violated: " + violation.getMessage());
      where = "crash: " + (trail.isEmpty() ? "none" : String.join(", then ", trail));
    }
    return violation;
  }

  // Lives

  /** Several processes in turn, each opening what the one before left when it closed or died. */
  private void live(
      SimulatedDirectory first,
      World firstWorld,
      Oracle before,
      SplittableRandom random,
      int depth,
      int lives,
      int steps,
      boolean faults) {
    SimulatedDirectory disk = first;
    World world = firstWorld;
    Oracle oracle = before;
    String indent = "    ".repeat(depth);
    Consumer<String> own = line -> log.accept(indent + line);
    for (int life = 0; life < lives; life++) {
      if (depth == 0) {
        mostStates = scope.statesAWorkload() * (life + 1) / lives;
      }
      if (faults && random.nextInt(2) == 0) {
        disk = openBadly(disk, world, oracle, random);
      }
      Process process = new Process(disk, world, oracle, depth, random.split(), this::fork);
      Opened opened = process.openSurely(this::now);
      own.accept("opened: " + opened.store().recovery());
      oracle = new Oracle(inspect(opened, process));
      process.oracle = oracle;
      Driver driver = new Driver(opened, oracle, random.split(), faults, own);
      boolean roomy = true;
      for (int i = 0; i < steps; i++) {
        if (faults && random.nextInt(3) == 0) {
          disk.clearFaults();
          boolean checkpoint = random.nextInt(3) == 0;
          Fault fault =
              checkpoint && random.nextBoolean() ? Faults.ofNames(random) : Faults.any(random);
          own.accept("inject " + fault);
          disk.inject(fault);
          if (checkpoint) {
            driver.checkpoint();
            if (driver.hasFailed()) {
              process.watchClosely();
            }
            continue;
          }
        }
        driver.step();
        if (driver.hasFailed()) {
          process.watchClosely();
        }
        Inspection.requireCharged(opened);
        if (world.isFull()) {
          oracle.poll();
          oracle.observe(opened);
          roomy &= driver.isWithinQuota();
          if (roomy) {
            Inspection.requireWithinQuota(opened, disk);
          }
        }
      }
      if (faults) {
        disk.clearFaults();
        resume(opened, driver, process, random);
      } else if (depth == 0 && !world.isFull() && random.nextInt(3) == 0) {
        race(opened, process, random);
      }
      if (depth == 0) {
        count(opened, label());
      }
      if (life < lives - 1 && random.nextInt(3) > 0) {
        oracle.poll();
        process.unwatch();
        opened.abandon();
      } else {
        driver.finish();
        if (world.isFull()) {
          // Ending what is open may write, and evict for that.
          oracle.observe(opened);
        }
        opened.store().close();
        oracle.acknowledge(oracle.mark());
        process.unwatch();
      }
      disk = disk.another();
      World next = life < lives - 1 ? world.next(random) : world;
      if (!roomy || next.quotaBytes() < world.quotaBytes()) {
        oracle.evictsAtOpen();
      }
      world = next;
    }
    check("the end", disk, world, oracle, depth + 1, random.split());
  }

  private String label() {
    return (faulty ? "failing " : "") + kind.label() + ": ";
  }

  /** Notes what one life did: a workload that does nothing shows nothing. */
  private void count(Opened opened, String prefix) {
    StoreStats stats = opened.store().stats();
    tally.did(prefix + "lives", 1);
    tally.did(prefix + "boundaries evicted", stats.evictedBoundaries());
    tally.did(prefix + "points evicted", stats.evictedPoints());
    tally.did(prefix + "pages copied", stats.copiedBytes() / 4_096);
    tally.did(prefix + "chains kept at the end", stats.keptChains());
  }

  /** An open during which a call fails; whether it succeeds or not, the process dies then. */
  private SimulatedDirectory openBadly(
      SimulatedDirectory disk, World world, Oracle oracle, SplittableRandom random) {
    Process process = new Process(disk, world, oracle, 0, random.split(), this::fork);
    Fault fault = Faults.any(random);
    log.accept("open with " + fault);
    disk.inject(fault);
    try {
      process.open(this::now).abandon();
    } catch (WaymarkException e) {
      log.accept("  failed: " + e.getMessage());
    }
    process.unwatch();
    disk.clearFaults();
    return disk.another();
  }

  /** Faults are gone: everything has to work again, in the same process. */
  private void resume(Opened opened, Driver driver, Process process, SplittableRandom random) {
    try {
      driver.flush();
    } catch (DurabilityLostException e) {
      // It says once what could not be saved.
      driver.flush();
    }
    Leaf leaf = process.world.anyLeaf(random);
    Inspection.use(opened, leaf, process.oracle);
    Presence presence = Presence.of(opened);
    Inspection.content(opened, presence);
    Inspection.account(opened, process.disk, null);
  }

  /** Two prefills at once, switched between wherever the engine says where it is. */
  private void race(Opened opened, Process process, SplittableRandom random) {
    Driver one = new Driver(opened, process.oracle, random.split(), false, log);
    Driver other = new Driver(opened, process.oracle, random.split(), false, log);
    Durability forced = random.nextBoolean() ? Durability.COMMIT : Durability.GROUP;
    boolean flushes = forced == Durability.GROUP;
    Interleaver tasks =
        new Interleaver(random.nextLong())
            .task("one", () -> one.appendOnly(Durability.GROUP, 4))
            .task(
                "other",
                () -> {
                  other.appendOnly(forced, flushes ? 2 : 4);
                  if (flushes) {
                    other.flush();
                  }
                });
    process.interleave(tasks);
    try {
      for (Map.Entry<String, Throwable> failed : tasks.run(PATIENCE).entrySet()) {
        if (failed.getValue() instanceof Violation violation) {
          throw violation;
        }
        throw new Violation(
            Violation.Kind.UNUSABLE, "a racing prefill fails: " + failed, failed.getValue());
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      process.interleave(null);
    }
    one.finish();
    other.finish();
  }

  // Forks

  /** Two racing threads of a process may come here at once, where one was found to be blocked. */
  private void fork(Process process, String call) {
    synchronized (process) {
      forkAlone(process, call);
    }
  }

  private void forkAlone(Process process, String call) {
    if (process.depth == 0 && !process.recovering) {
      tally.did(label() + call, 1);
    }
    if (states >= mostStates || process.depth >= DEPTH_LIMIT) {
      return;
    }
    SplittableRandom random = process.random;
    boolean soon = process.isWatchedClosely();
    if (call.equals("PUNCH") || call.equals("DELETE")) {
      // What was given back too early shows until the edits that say so are forced.
      process.watchClosely();
    }
    if (random.nextInt(1_000) >= perMille(process, soon)) {
      return;
    }
    process.oracle.poll();
    boolean takes = process.world.isFull() || process.oracle.isDeleting();
    if (takes && process.opened != null) {
      process.oracle.observe(process.opened);
    }
    int choice = random.nextInt(12);
    String when = (process.recovering ? "in recovery before " : "before ") + call;
    if (!scope.powerLoss() || choice < 3) {
      reach(when + ": killed", process.disk.killState(), process);
    } else if (choice == 3) {
      for (CrashState state :
          CrashStates.of(process.disk).enumerate(6 + random.nextInt(8), random.nextLong())) {
        reach(when + ": " + state.how(), state.directory(), process);
      }
    } else {
      for (int i = 0; i < 2; i++) {
        long number = random.nextLong();
        reach(when + ": power loss " + number, process.disk.crashState(number), process);
      }
    }
  }

  private static int perMille(Process process, boolean soon) {
    if (process.depth > 0) {
      return process.recovering ? 6 : 60;
    }
    if (process.recovering) {
      return 60;
    }
    // So that what there is to spend lasts until the end of a long life.
    return switch (process.world.kind()) {
      case PLAIN -> soon ? 300 : 130;
      case CHURNED -> soon ? 250 : 20;
      case FULL -> soon ? 150 : 25;
    };
  }

  private void reach(String how, SimulatedDirectory state, Process from) {
    long content = state.contentHash() * 31 + state.allocatedBytes();
    if (!seen.add(content * 31 + from.oracle.version() * 0x9E3779B97F4A7C15L + from.depth)) {
      return;
    }
    states++;
    tally.states++;
    if (from.recovering && from.depth > 0) {
      tally.nested++;
    }
    check(how, state, from.world, from.oracle, from.depth + 1, from.random.split());
  }

  /** Opens a state, one in three of them twice, and looks at it from all sides. */
  private void check(
      String how,
      SimulatedDirectory state,
      World world,
      Oracle oracle,
      int depth,
      SplittableRandom random) {
    trail.addLast(how);
    String indent = "    ".repeat(depth);
    log.accept(indent + how);
    try {
      Process process = new Process(state, world, oracle, depth, random, this::fork);
      Opened opened = process.openSurely(this::now);
      process.unwatch();
      log.accept(indent + "recovered: " + opened.store().recovery());
      Presence presence = inspect(opened, process);
      if (random.nextBoolean()) {
        opened.store().close();
        if (random.nextInt(4) == 0) {
          Inspection.verify(state.another(), this::now);
        }
      } else {
        opened.abandon();
      }
      if (random.nextInt(3) > 0) {
        trail.removeLast();
        return;
      }
      SimulatedDirectory again = state.another();
      Opened second =
          new Process(again, world, oracle, DEPTH_LIMIT, random, this::fork).openSurely(this::now);
      requireQuiet(second.store().recovery());
      if (!Presence.of(second).equals(presence)) {
        throw new Violation(Violation.Kind.WRONG, "a second recovery gives something else");
      }
      follow(second, again, presence, depth, random);
    } catch (Violation e) {
      throw at(e);
    } catch (RuntimeException | AssertionError e) {
      throw at(new Violation(Violation.Kind.UNUSABLE, "not a typed error: " + e, e));
    }
    trail.removeLast();
  }

  /** The store goes on after the crash: used, or used and crashed again. */
  private void follow(
      Opened opened,
      SimulatedDirectory disk,
      Presence presence,
      int depth,
      SplittableRandom random) {
    int choice = random.nextInt(5);
    if (choice == 0) {
      if (!opened.world().isFull()) {
        Inspection.use(opened, opened.world().anyLeaf(random), new Oracle(presence));
      }
      Inspection.account(opened, disk, null);
      opened.store().close();
    } else {
      opened.abandon();
      if (choice == 1 && depth < DEPTH_LIMIT) {
        trail.addLast("going on");
        live(disk.another(), opened.world(), new Oracle(presence), random, depth, 1, 4, false);
        trail.removeLast();
      }
    }
  }

  private static void requireQuiet(RecoveryReport report) {
    if (!report.cleanlyClosed() || report.droppedBoundaries() + report.droppedPoints() > 0) {
      throw new Violation(Violation.Kind.WRONG, "a second recovery finds work: " + report);
    }
  }

  private Presence inspect(Opened opened, Process process) {
    Presence presence = Presence.of(opened);
    opened.world().requireFurniture(process.disk);
    Inspection.requireUndamaged(opened.store().recovery());
    process.oracle.check(presence);
    Inspection.content(opened, presence);
    Inspection.account(opened, process.disk, presence);
    return presence;
  }
}
