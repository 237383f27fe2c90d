package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.sim.SimulatedDirectory;
import org.junit.jupiter.api.Test;
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
  void whatIsKeptMovesIntoASegmentOfItsOwn(boolean punching) {
    write(60, punching, true);
    try (SnapshotStore store = open("16MiB", punching)) {
      assertThat(store.stats().allocatedBytes()).isLessThanOrEqualTo(16 << 20);
      assertThat(disk.another().allocatedBytes()).isLessThanOrEqualTo(16 << 20);
      ForestChecker.check(store);
      Namespace ns = store.namespace(large.identity, large.layout);
      assertThat(large.restoreAndCheck(ns.match(prompt(0)), prompt(0))).isEqualTo(TOKENS - 1);
      Namespace other = store.namespace(small.identity, small.layout);
      for (int i = 0; i < 300; i++) {
        small.store(other, prompt(100 + i), PrefillPlan.tokens(TOKENS));
        assertThat(disk.another().allocatedBytes()).isLessThanOrEqualTo(16 << 20);
      }
      assertThat(large.restoreAndCheck(ns.match(prompt(0)), prompt(0))).isEqualTo(TOKENS - 1);
    }
    try (SnapshotStore again = open("16MiB", punching)) {
      Namespace ns = again.namespace(large.identity, large.layout);
      assertThat(large.restoreAndCheck(ns.match(prompt(0)), prompt(0))).isEqualTo(TOKENS - 1);
      ns.release("kept");
      assertThat(again.maintenance().deleteNamespace(ns, false).boundaries()).isPositive();
      ForestChecker.check(again);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsKeptAndDoesNotFitTheQuotaIsSaidToBePinned(boolean punching) {
    try (SnapshotStore store = open("1GiB", punching)) {
      Namespace ns = store.namespace(large.identity, large.layout);
      for (int i = 0; i < 60; i++) {
        large.store(ns, prompt(i), PrefillPlan.tokens(TOKENS));
        ns.keep(ns.match(prompt(i)), "kept " + i);
      }
    }
    try (SnapshotStore store = open("16MiB", punching)) {
      Namespace ns = store.namespace(large.identity, large.layout);
      assertThatThrownBy(store::enforce).isInstanceOf(QuotaPinnedException.class);
      Namespace other = store.namespace(small.identity, small.layout);
      assertThatThrownBy(() -> small.store(other, prompt(99), PrefillPlan.tokens(TOKENS)))
          .isInstanceOf(QuotaPinnedException.class);
      for (int i = 0; i < 60; i++) {
        assertThat(large.restoreAndCheck(ns.match(prompt(i)), prompt(i))).isEqualTo(TOKENS - 1);
      }
      for (int i = 1; i < 60; i++) {
        ns.release("kept " + i);
      }
      store.enforce();
      small.store(other, prompt(99), PrefillPlan.tokens(TOKENS));
      assertThat(disk.another().allocatedBytes()).isLessThanOrEqualTo(16 << 20);
      assertThat(large.restoreAndCheck(ns.match(prompt(0)), prompt(0))).isEqualTo(TOKENS - 1);
    }
  }

  @Test
  void whereTheDiskHasNoRoomForTheMoveTheStoreOpensAllTheSame() {
    try (SnapshotStore store = open("1GiB", false)) {
      Namespace ns = store.namespace(large.identity, large.layout);
      for (int i = 0; i < 72; i++) {
        large.store(ns, prompt(i), PrefillPlan.tokens(TOKENS));
        if (i % 36 == 0) {
          ns.keep(ns.match(prompt(i)), "kept " + i);
        }
      }
    }
    long found = disk.another().allocatedBytes();
    disk.setCapacityBytes(found + (200 << 10));
    try (SnapshotStore store = open("16MiB", false)) {
      assertThat(disk.another().allocatedBytes()).isGreaterThan(16 << 20);
      Namespace ns = store.namespace(large.identity, large.layout);
      for (int i = 0; i < 72; i += 36) {
        assertThat(large.restoreAndCheck(ns.match(prompt(i)), prompt(i))).isEqualTo(TOKENS - 1);
      }
      assertThatThrownBy(store::enforce).isInstanceOf(DiskFullException.class);
      disk.setCapacityBytes(2 * found);
      store.enforce();
      assertThat(disk.another().allocatedBytes()).isLessThanOrEqualTo(16 << 20);
      for (int i = 0; i < 72; i += 36) {
        assertThat(large.restoreAndCheck(ns.match(prompt(i)), prompt(i))).isEqualTo(TOKENS - 1);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void compactionOnRequestMovesThemAndDropsNothing(boolean punching) {
    write(20, punching, false);
    try (SnapshotStore store = open("16MiB", punching)) {
      Namespace ns = store.namespace(large.identity, large.layout);
      store.maintenance().deleteChain(ns.match(prompt(1)), false);
      long boundaries = store.stats().boundaries();
      CompactionReport report =
          store.maintenance().compact(1, Long.MAX_VALUE, false, (done, of, bytes) -> true);
      assertThat(report.copiedBytes()).isPositive();
      assertThat(store.stats().boundaries()).isEqualTo(boundaries).isEqualTo(19);
      for (int i = 0; i < 20; i++) {
        if (i != 1) {
          assertThat(large.restoreAndCheck(ns.match(prompt(i)), prompt(i))).isEqualTo(TOKENS - 1);
        }
      }
      ForestChecker.check(store);
    }
  }
}
