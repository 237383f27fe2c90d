package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.ClosedException;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.sim.SimulatedDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compaction on request keeps to its rate, can be stopped at any record, and holds nobody up. */
class PacedCopyTest {
  private static final long MIB = 1L << 20;
  private static final long RATE = 2 * MIB;
  private static final int PROMPTS = 60;

  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);
  private final Time time = new Time();

  /** Passes only where someone waits. */
  private static final class Time implements Waiting {
    private long millis;
    private int pauses;
    private Runnable meanwhile = () -> {};

    @Override
    public long millis() {
      return millis;
    }

    @Override
    public boolean pause(long forMillis) {
      millis += forMillis;
      pauses++;
      meanwhile.run();
      return !Thread.currentThread().isInterrupted();
    }
  }

  private static SnapshotStore open(boolean punching) {
    StoreOptions options =
        StoreOptions.builder()
            .quota(64 * MIB)
            .backgroundThread(false)
            .punchHoles(punching)
            .compactionRate(RATE)
            .build();
    return SnapshotStore.open(
        new SimulatedDirectory(), options, () -> 1_700_000_000_000L, YieldPoints.NONE);
  }

  private static int[] prompt(int seed) {
    return QuotaTest.prompt(seed, 321);
  }

  private Namespace fill(SnapshotStore store) {
    Namespace ns = store.namespace(model.identity, model.layout);
    for (int i = 0; i < PROMPTS; i++) {
      model.store(ns, prompt(i), PrefillPlan.tokens(321));
    }
    for (int i = 0; i < PROMPTS; i++) {
      if (i % 3 == 0) {
        store.maintenance().deleteChain(ns.match(prompt(i)), false);
      }
    }
    return ns;
  }

  private void allAreThere(Namespace ns) {
    for (int i = 0; i < PROMPTS; i++) {
      if (i % 3 != 0) {
        assertThat(model.restoreAndCheck(ns.match(prompt(i)), prompt(i))).isEqualTo(320);
      }
    }
  }

  private CompactionReport compact(SnapshotStore store, CompactionReport.Progress progress) {
    return new Maintenance(store.engine(), time).compact(1, Long.MAX_VALUE, false, progress);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noMoreIsCopiedThanItsRateAllows(boolean punching) {
    try (SnapshotStore store = open(punching)) {
      Namespace ns = fill(store);
      long before = store.stats().copiedBytes();
      List<Long> above = new ArrayList<>();
      time.meanwhile =
          () -> {
            long allowed = RATE * time.millis / 1_000 + RATE / 4 + 32 * 1_024;
            long copied = store.stats().copiedBytes() - before;
            if (copied > allowed) {
              above.add(copied - allowed);
            }
          };

      CompactionReport report = compact(store, (done, of, copied) -> true);

      assertThat(above).isEmpty();
      assertThat(report.emptiedSegments()).isEqualTo(report.candidates().size());
      assertThat(report.copiedBytes())
          .isGreaterThan(8 * MIB)
          .isEqualTo(store.stats().copiedBytes() - before);
      // Nor is it much slower.
      assertThat(time.millis).isLessThan(report.copiedBytes() * 1_000 / RATE + 500);
      allAreThere(ns);
    }
  }

  @Test
  void toldToStopItStopsWhereItIs() {
    try (SnapshotStore store = open(false)) {
      Namespace ns = fill(store);
      CompactionReport report =
          compact(
              store,
              new CompactionReport.Progress() {
                @Override
                public boolean emptied(int done, int of, long copiedBytes) {
                  return true;
                }

                @Override
                public boolean isCancelled() {
                  return time.pauses >= 5;
                }
              });

      assertThat(report.copiedBytes()).isBetween(1L, 2 * MIB);
      assertThat(report.emptiedSegments()).isLessThan(report.candidates().size());
      assertThat(time.pauses).isEqualTo(5);
      allAreThere(ns);
      ForestChecker.check(store);
    }
  }

  @Test
  void interruptedItStopsAndTheThreadStaysInterrupted() {
    try (SnapshotStore store = open(false)) {
      Namespace ns = fill(store);
      time.meanwhile = () -> Thread.currentThread().interrupt();
      CompactionReport report = compact(store, (done, of, copied) -> true);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(report.emptiedSegments()).isLessThan(report.candidates().size());
      allAreThere(ns);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whileItWaitsOthersMakeRoom(boolean punching) {
    try (SnapshotStore store = open(punching)) {
      Namespace ns = fill(store);
      int[] next = {1_000};
      time.meanwhile =
          () -> {
            if (time.pauses % 10 == 0) {
              CompletableFuture.runAsync(
                      () -> {
                        model.store(ns, QuotaTest.prompt(next[0]++, 4_801), plan());
                        store.setQuota(Math.max(16, 64 - next[0] % 1_000) * MIB);
                      })
                  .join();
              assertThat(store.stats().allocatedBytes())
                  .isLessThanOrEqualTo(store.stats().quotaBytes());
            }
          };
      compact(store, (done, of, copied) -> true);
      assertThat(next[0]).isGreaterThan(1_002);
      int[] last = QuotaTest.prompt(next[0] - 1, 4_801);
      assertThat(model.restoreAndCheck(ns.match(last), last)).isEqualTo(4_800);
      assertThat(store.stats().allocatedBytes()).isLessThanOrEqualTo(store.stats().quotaBytes());
      ForestChecker.check(store);
    }
  }

  private static PrefillPlan plan() {
    return PrefillPlan.tokens(4_801);
  }

  @Test
  void theStoreMayBeClosedWhileItWaits() {
    SnapshotStore store = open(false);
    fill(store);
    time.meanwhile = store::close;
    assertThatThrownBy(() -> compact(store, (done, of, copied) -> true))
        .isInstanceOf(ClosedException.class);
    assertThat(time.pauses).isEqualTo(1);
  }

  @Test
  void aRateIsAtLeastAByteASecond() {
    assertThatThrownBy(() -> StoreOptions.builder().compactionRate(0).build())
        .isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void aClockThatJumpsGivesASecondAndTakesNothing() {
    long[] now = {10_000};
    Throttle throttle = new Throttle(1_000, () -> now[0]);
    assertThat(throttle.allowedBytes()).isEqualTo(250);
    throttle.spent(5_250);
    now[0] -= 5_000;
    assertThat(throttle.allowedBytes()).isEqualTo(-5_000);
    now[0] += 86_400_000;
    assertThat(throttle.allowedBytes()).isEqualTo(-4_000);
    now[0] += 100;
    assertThat(throttle.allowedBytes()).isEqualTo(-3_900);
  }
}
