package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.sim.SimulatedDirectory;
import org.junit.jupiter.api.Test;

/** A day's budget is given once, whatever the clock does between two openings. */
class WriteBudgetClockTest {
  private static final long DAY_MILLIS = 86_400_000L;

  private final SampleModel model = new SampleModel("one", 1_024, 0, 0);
  private final SimulatedDirectory disk = new SimulatedDirectory();

  private SnapshotStore openOn(long day) {
    return SnapshotStore.open(
        disk.another(),
        TestStore.options("64MiB").writeBudget(8L << 20).build(),
        () -> day * DAY_MILLIS + 5,
        label -> {});
  }

  @Test
  void aClockSetBackOverARestartGivesNoSecondBudget() {
    long left = Long.MAX_VALUE;
    for (long day : new long[] {20_000, 19_999, 20_000, 19_000, 20_000}) {
      try (SnapshotStore store = openOn(day)) {
        assertThat(store.engine().budget.leftBytes()).as("day %d", day).isLessThanOrEqualTo(left);
        Namespace ns = store.namespace(model.identity, model.layout);
        int[] tokens = QuotaTest.prompt((int) left, 161);
        model.store(ns, tokens, PrefillPlan.tokens(tokens.length));
        left = store.engine().budget.leftBytes();
      }
    }
    try (SnapshotStore store = openOn(20_001)) {
      assertThat(store.engine().budget.leftBytes()).isGreaterThan(left);
    }
  }
}
