package dev.waymark.sim;

import dev.waymark.internal.io.YieldPoints;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Runs tasks on real threads, of which one goes at a time; at each yield point the seed decides
 * which goes on. The same seed gives the same {@link #schedule}, if tasks wait for each other only
 * at yield points.
 *
 * <p>Limits: a task is switched only where it calls {@link #reached}; between two such places it
 * runs alone, so races on memory in between do not show. A task that blocks on what a parked one
 * holds (a lock, a future) is found by looking at its thread, and another one is let go meanwhile;
 * {@link #stalls} counts that, and a run with stalls may not repeat exactly. To have none, call
 * {@code reached} only where no lock is held. Threads that are not tasks pass through untouched.
 */
public final class Interleaver implements YieldPoints {
  private static final long LOOK_MILLIS = 10;

  /** So many looks in a row at a blocked task make a stall: a short wait is none. */
  private static final int STALL_LOOKS = 3;

  /** What a task does. */
  @FunctionalInterface
  public interface Body {
    /** Runs to its end; what it throws is its outcome. */
    void run() throws Exception;
  }

  private enum Phase {
    /** Waits for its turn. */
    READY,
    /** Has the turn. */
    RUNNING,
    /** Had the turn and is blocked elsewhere; takes no turn until it comes back. */
    STALLED,
    ENDED
  }

  private static final class Task {
    final String name;
    final Body body;
    Thread thread;
    Phase phase = Phase.READY;
    Throwable outcome;

    Task(String name, Body body) {
      this.name = name;
      this.body = body;
    }
  }

  private final SplittableRandom random;
  private final List<Task> tasks = new ArrayList<>();
  private final List<String> schedule = new ArrayList<>();
  private int stalls;
  private int blockedLooks;

  /** One interleaving. */
  public Interleaver(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Adds a task; before {@link #run}. */
  public synchronized Interleaver task(String name, Body body) {
    tasks.add(new Task(name, body));
    return this;
  }

  /**
   * Runs all tasks to their ends.
   *
   * @return what those that failed threw, by name
   */
  public synchronized Map<String, Throwable> run(Duration timeout) throws InterruptedException {
    for (Task task : tasks) {
      task.thread = new Thread(() -> live(task), "interleaved-" + task.name);
      task.thread.setDaemon(true);
      task.thread.start();
    }
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    pickNext();
    while (!allEnded()) {
      long lookNanos = System.nanoTime() + LOOK_MILLIS * 1_000_000;
      while (!allEnded() && System.nanoTime() < lookNanos) {
        wait(LOOK_MILLIS);
      }
      if (System.nanoTime() > deadlineNanos) {
        throw new AssertionError("tasks do not end:" + stacks());
      }
      passOverStalled();
    }
    Map<String, Throwable> failed = new LinkedHashMap<>();
    for (Task task : tasks) {
      if (task.outcome != null) {
        failed.put(task.name, task.outcome);
      }
    }
    return failed;
  }

  /** Lets another task go, or the same. */
  @Override
  public synchronized void reached(String label) {
    Task task = current();
    if (task == null) {
      return;
    }
    schedule.add(task.name + "@" + label);
    boolean hadTurn = task.phase == Phase.RUNNING;
    task.phase = Phase.READY;
    if (hadTurn || running() == null) {
      pickNext();
    }
    awaitTurn(task);
  }

  /** Which task reached which yield point, in order. */
  public synchronized List<String> schedule() {
    return new ArrayList<>(schedule);
  }

  /** How often a task had the turn and was blocked by another. */
  public synchronized int stalls() {
    return stalls;
  }

  private void live(Task task) {
    Throwable outcome = null;
    try {
      synchronized (this) {
        awaitTurn(task);
      }
      task.body.run();
    } catch (Throwable thrown) {
      // A crash of the simulated power is an outcome like any other.
      outcome = thrown;
    }
    synchronized (this) {
      task.outcome = outcome;
      task.phase = Phase.ENDED;
      if (running() == null) {
        pickNext();
      }
      notifyAll();
    }
  }

  private void awaitTurn(Task task) {
    boolean interrupted = false;
    while (task.phase != Phase.RUNNING) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void pickNext() {
    List<Task> ready = new ArrayList<>();
    for (Task task : tasks) {
      if (task.phase == Phase.READY) {
        ready.add(task);
      }
    }
    if (!ready.isEmpty()) {
      ready.get(random.nextInt(ready.size())).phase = Phase.RUNNING;
      blockedLooks = 0;
      notifyAll();
    }
  }

  /** Only where the running task is blocked outside of this object. */
  private void passOverStalled() {
    Task task = running();
    if (task == null) {
      pickNext();
      return;
    }
    Thread.State state = task.thread.getState();
    boolean blocked =
        state == Thread.State.BLOCKED
            || state == Thread.State.WAITING
            || state == Thread.State.TIMED_WAITING;
    blockedLooks = blocked && !isWaitingHere(task.thread) ? blockedLooks + 1 : 0;
    if (blockedLooks >= STALL_LOOKS) {
      task.phase = Phase.STALLED;
      stalls++;
      pickNext();
    }
  }

  /** Whether it waits for this object only, having just been given the turn. */
  private static boolean isWaitingHere(Thread thread) {
    StackTraceElement[] frames = thread.getStackTrace();
    for (int i = 0; i < frames.length; i++) {
      if (frames[i].getClassName().equals(Interleaver.class.getName())) {
        String method = frames[i].getMethodName();
        return i == 0 || method.equals("reached") || method.equals("awaitTurn");
      }
    }
    return frames.length == 0;
  }

  private Task current() {
    for (Task task : tasks) {
      if (task.thread == Thread.currentThread()) {
        return task;
      }
    }
    return null;
  }

  private Task running() {
    for (Task task : tasks) {
      if (task.phase == Phase.RUNNING) {
        return task;
      }
    }
    return null;
  }

  private boolean allEnded() {
    for (Task task : tasks) {
      if (task.phase != Phase.ENDED) {
        return false;
      }
    }
    return true;
  }

  private String stacks() {
    StringBuilder text = new StringBuilder();
    for (Task task : tasks) {
      text.append("\n").append(task.name).append(" ").append(task.phase);
      for (StackTraceElement frame : task.thread.getStackTrace()) {
        text.append("\n    ").append(frame);
      }
    }
    return text.toString();
  }
}
