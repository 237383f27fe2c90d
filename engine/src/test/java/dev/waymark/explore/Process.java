package dev.waymark.explore;

import dev.waymark.error.WaymarkException;
import dev.waymark.sim.Interleaver;
import dev.waymark.sim.SimulatedDirectory;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/** One process on a simulated disk: tells when the engine makes a call or passes a yield point. */
final class Process {
  /** Told before each call of a process that changes something. */
  @FunctionalInterface
  interface Watcher {
    void before(Process process, String call);
  }

  private static final int CLOSE_CALLS = 5;

  final SimulatedDirectory disk;
  final World world;
  final int depth;
  final SplittableRandom random;
  private final Watcher watcher;
  private Interleaver tasks;

  /** What the store has been told so far. */
  Oracle oracle;

  boolean recovering = true;

  /** So many calls from now on are watched more closely. */
  private int closeCalls;

  /** The store, once it is open. */
  Opened opened;

  Process(
      SimulatedDirectory disk,
      World world,
      Oracle oracle,
      int depth,
      SplittableRandom random,
      Watcher watcher) {
    this.disk = disk;
    this.world = world;
    this.oracle = oracle;
    this.depth = depth;
    this.random = random;
    this.watcher = watcher;
  }

  /** Opens the store; each call of its recovery is told. */
  Opened open(LongSupplier clock) {
    disk.setYieldPoints(this::call);
    opened = Opened.open(disk, world, clock, this::yieldPoint);
    recovering = false;
    return opened;
  }

  /** The same, where it has to be possible. */
  Opened openSurely(LongSupplier clock) {
    try {
      return open(clock);
    } catch (WaymarkException e) {
      throw new Violation(Violation.Kind.LOST, "the store cannot be opened: " + e.getMessage(), e);
    }
  }

  /** Something was just given back, or has just failed: what follows is worth a closer look. */
  void watchClosely() {
    closeCalls = CLOSE_CALLS;
  }

  /** Whether this call is among those; asked once a call. */
  boolean isWatchedClosely() {
    return closeCalls > 0 && closeCalls-- > 0;
  }

  /** From here on nothing is told. */
  void unwatch() {
    disk.setYieldPoints(label -> {});
  }

  /** Lets tasks take turns at the engine's yield points; null to stop. */
  void interleave(Interleaver value) {
    tasks = value;
  }

  private void yieldPoint(String label) {
    call(label);
    disk.yieldPoint(label);
    Interleaver interleaver = tasks;
    if (interleaver != null) {
      interleaver.reached(label);
    }
  }

  private void call(String what) {
    switch (what) {
      case "OPEN", "READ", "MAP", "GET", "LOCK" -> {
        // Changes nothing that a crash could tell apart.
      }
      default -> watcher.before(this, what);
    }
  }
}
