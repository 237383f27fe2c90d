package dev.waymark.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.internal.io.StoreFile;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One task goes at a time, and the seed says which. */
@Timeout(30)
class InterleaverTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  @Test
  void theSameSeedGivesTheSameSchedule() throws InterruptedException {
    Set<List<String>> schedules = new HashSet<>();
    for (long seed = 0; seed < 20; seed++) {
      List<String> schedule = scheduleOf(seed);
      assertThat(scheduleOf(seed)).isEqualTo(schedule);
      schedules.add(schedule);
    }
    assertThat(schedules).hasSizeGreaterThan(5);
  }

  @Test
  void aLostUpdateIsFoundBySomeSeed() throws InterruptedException {
    Set<Integer> results = new HashSet<>();
    for (long seed = 0; seed < 20; seed++) {
      int[] counter = {0};
      Interleaver interleaver = new Interleaver(seed);
      Interleaver.Body increment =
          () -> {
            int read = counter[0];
            interleaver.reached("between");
            counter[0] = read + 1;
          };
      interleaver.task("a", increment).task("b", increment);
      assertThat(interleaver.run(LONG)).isEmpty();
      assertThat(interleaver.stalls()).isZero();
      results.add(counter[0]);
    }
    assertThat(results).containsExactlyInAnyOrder(1, 2);
  }

  @Test
  void aLockHeldByAParkedTaskIsNoDeadlock() throws InterruptedException {
    int stalls = 0;
    for (long seed = 0; seed < 5; seed++) {
      Interleaver interleaver = new Interleaver(seed);
      ReentrantLock lock = new ReentrantLock();
      Interleaver.Body body =
          () -> {
            interleaver.reached("before");
            lock.lock();
            try {
              interleaver.reached("inside");
              interleaver.reached("inside");
            } finally {
              lock.unlock();
            }
          };
      interleaver.task("a", body).task("b", body).task("c", body);
      assertThat(interleaver.run(LONG)).isEmpty();
      stalls += interleaver.stalls();
    }
    assertThat(stalls).isPositive();
  }

  @Test
  void aRealDeadlockIsReported() {
    Interleaver interleaver = new Interleaver(1);
    interleaver.task("a", () -> new CountDownLatch(1).await());
    assertThatThrownBy(() -> interleaver.run(Duration.ofMillis(200)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("a STALLED");
  }

  @Test
  void aCrashEndsAllTasks() throws InterruptedException {
    SimulatedDirectory directory = new SimulatedDirectory();
    Interleaver interleaver = new Interleaver(3);
    directory.setYieldPoints(interleaver);
    directory.setCrashPlan(CrashPlan.atOperation(12));
    interleaver
        .task("a", () -> writeMany(directory, "a"))
        .task("b", () -> writeMany(directory, "b"));
    Map<String, Throwable> failed = interleaver.run(LONG);
    assertThat(failed).containsOnlyKeys("a", "b");
    assertThat(failed.values()).allMatch(thrown -> thrown instanceof SimulatedCrash);
    assertThat(directory.crashPoints()).isEqualTo(12);
  }

  private static List<String> scheduleOf(long seed) throws InterruptedException {
    SimulatedDirectory directory = new SimulatedDirectory();
    Interleaver interleaver = new Interleaver(seed);
    directory.setYieldPoints(interleaver);
    interleaver
        .task("a", () -> writeMany(directory, "a"))
        .task("b", () -> writeMany(directory, "b"));
    assertThat(interleaver.run(LONG)).isEmpty();
    assertThat(interleaver.stalls()).isZero();
    return interleaver.schedule();
  }

  private static void writeMany(SimulatedDirectory directory, String name) {
    try (StoreFile file = directory.create(name)) {
      for (int i = 0; i < 10; i++) {
        file.write(i, Bytes.of(1, 1), 0, 1);
      }
      file.force();
    }
  }
}
