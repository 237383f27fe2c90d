package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.QuotaExceededException;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.sim.SimulatedDirectory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store is opened with a quota far below the one it was written under, so that its records are
 * larger than segments are now.
 */
class LowerQuotaTest {
  private static final int TOKENS = SampleModel.BLOCK + 1;

  private final SampleModel large = new SampleModel("large", 24 << 10, 0, 0);
  private final SampleModel small = new SampleModel("small", 4 << 10, 0, 0);
  private final SimulatedDirectory disk = new SimulatedDirectory();

  private SnapshotStore open(String quota, boolean punching) {
    return SnapshotStore.open(
        disk.another(),
        TestStore.options(quota).punchHoles(punching).build(),
        System::currentTimeMillis,
        label -> {});
  }

  private static int[] prompt(int seed) {
    return QuotaTest.prompt(seed, TOKENS);
  }

  private void write(int prompts, boolean punching, boolean keep) {
    try (SnapshotStore store = open("1GiB", punching)) {
      Namespace ns = store.namespace(large.identity, large.layout);
      for (int i = 0; i < prompts; i++) {
        large.store(ns, prompt(i), PrefillPlan.tokens(TOKENS));
        if (keep && i == 0) {
          ns.keep(ns.match(prompt(0)), "kept");
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsNotHeldGoesUntilTheRestFits(boolean punching) {
    write(60, punching, false);
    try (SnapshotStore store = open("16MiB", punching)) {
      assertThat(disk.another().allocatedBytes()).isLessThanOrEqualTo(16 << 20);
      Namespace ns = store.namespace(small.identity, small.layout);
      for (int i = 0; i < 300; i++) {
        small.store(ns, prompt(100 + i), PrefillPlan.tokens(TOKENS));
        assertThat(store.stats().allocatedBytes()).isLessThanOrEqualTo(16 << 20);
      }
      assertThat(small.restoreAndCheck(ns.match(prompt(399)), prompt(399))).isEqualTo(16);
      ForestChecker.check(store);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsKeptStaysWhereItIs(boolean punching) {
    write(60, punching, true);
    try (SnapshotStore store = open("16MiB", punching)) {
      Namespace ns = store.namespace(large.identity, large.layout);
      assertThat(large.restoreAndCheck(ns.match(prompt(0)), prompt(0))).isEqualTo(16);
      List<Integer> progress = new ArrayList<>();
      store
          .maintenance()
          .compact(1, Long.MAX_VALUE, false, (done, of, bytes) -> progress.add(done));
      assertThat(large.restoreAndCheck(ns.match(prompt(0)), prompt(0))).isEqualTo(16);
      ForestChecker.check(store);
      Namespace other = store.namespace(small.identity, small.layout);
      if (store.stats().allocatedBytes() > store.stats().quotaBytes()) {
        // Its segment cannot be emptied: nothing is added until it is released.
        assertThatThrownBy(
                () -> {
                  for (int i = 0; i < 50; i++) {
                    small.store(other, prompt(50 + i), PrefillPlan.tokens(TOKENS));
                  }
                })
            .isInstanceOfAny(QuotaPinnedException.class, QuotaExceededException.class);
      }
      ns.release("kept");
      store.enforce();
      small.store(other, prompt(99), PrefillPlan.tokens(TOKENS));
      assertThat(disk.another().allocatedBytes()).isLessThanOrEqualTo(16 << 20);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void compactionOnRequestLeavesThemOutAndDropsNothing(boolean punching) {
    write(20, punching, false);
    try (SnapshotStore store = open("16MiB", punching)) {
      Namespace ns = store.namespace(large.identity, large.layout);
      store.maintenance().deleteChain(ns.match(prompt(1)), false);
      long boundaries = store.stats().boundaries();
      CompactionReport report =
          store.maintenance().compact(1, Long.MAX_VALUE, false, (done, of, bytes) -> true);
      assertThat(report.candidates()).isEmpty();
      assertThat(boundaries).isEqualTo(19);
      assertThat(store.stats().boundaries()).isEqualTo(boundaries);
    }
  }
}
