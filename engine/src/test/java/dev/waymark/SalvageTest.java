package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DurabilityLostException;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import dev.waymark.sim.SimulatedDirectory;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a failed force endangered is saved, also where the quota has no room for anyone. */
class SalvageTest {
  private static final long MIB = 1L << 20;
  private static final int BLOCK = SampleModel.BLOCK;

  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);

  private void append(PrefillSession session, int[] tokens, int to) {
    int from = session.tokens();
    session.append(Arrays.copyOfRange(tokens, from, to), model.views(tokens, to));
  }

  /**
   * @param failures forces of segments that fail one after another: those of the copies too
   * @param full whether all of the quota is in use or reserved
   */
  @ParameterizedTest
  @CsvSource({"1,true", "1,false", "2,false", "3,false"})
  void whatCouldNotBeForcedIsMovedWithinTheQuota(int failures, boolean full) {
    SimulatedDirectory disk = new SimulatedDirectory();
    StoreOptions options = TestStore.options("24MiB").build();
    SnapshotStore store =
        SnapshotStore.open(disk, options, () -> 1_700_000_000_000L, YieldPoints.NONE);
    Namespace ns = store.namespace(model.identity, model.layout);
    int[] tokens = QuotaTest.prompt(1, 8 * BLOCK + 1);
    PrefillPlan plan =
        PrefillPlan.tokens(tokens.length).policy(RestorePolicy.EVERY).durability(Durability.NONE);
    try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
      for (int to = BLOCK; to <= 8 * BLOCK; to += BLOCK) {
        append(session, tokens, to);
      }
      QuotaGate gate = store.engine().space.gate();
      QuotaGate.Reservation others = gate.reservation();
      assertThat(gate.tryReserve(others, full ? gate.freeBytes() : 0)).isTrue();
      assertThat(gate.freeBytes() == 0).isEqualTo(full);
      disk.inject(Fault.ioError(OperationKind.FORCE).onFile("append-").times(failures));
      try {
        store.flush();
        assertThat(failures).isLessThan(3);
        assertThat(session.durableTokens()).isEqualTo(8 * BLOCK);
      } catch (DurabilityLostException e) {
        // The third round moves no more.
        assertThat(failures).isEqualTo(3);
      }
      assertThat(disk.allocatedBytes()).isLessThanOrEqualTo(24 * MIB);
      assertThat(store.stats().allocatedBytes()).isLessThanOrEqualTo(24 * MIB);
      others.end();
    }
    disk = powerLoss(disk, store);
    try (SnapshotStore again =
        SnapshotStore.open(disk, options, () -> 1_700_000_000_000L, YieldPoints.NONE)) {
      Namespace there = again.namespace(model.identity, model.layout);
      PrefixMatch match = there.match(tokens);
      if (failures < 3) {
        assertThat(model.restoreAndCheck(match, tokens)).isEqualTo(8 * BLOCK);
      } else {
        assertThat(match.storedTokens()).isZero();
      }
    }
  }

  /** The description of a second namespace stands behind what was durable in the same segment. */
  @Test
  void aDescriptionThatCouldNotBeForcedIsNotNamed() {
    SampleModel other = new SampleModel("other", 992, 96, 8_064);
    int[] tokens = QuotaTest.prompt(1, BLOCK + 1);
    StoreOptions options = TestStore.options("24MiB").build();
    SimulatedDirectory disk = new SimulatedDirectory();
    SnapshotStore store =
        SnapshotStore.open(disk, options, () -> 1_700_000_000_000L, YieldPoints.NONE);
    for (SampleModel each : List.of(model, other)) {
      if (each == other) {
        store.flush();
        disk.inject(Fault.ioError(OperationKind.FORCE).onFile("append-").times(1));
      }
      Namespace ns = store.namespace(each.identity, each.layout);
      PrefillPlan plan = PrefillPlan.tokens(tokens.length).durability(Durability.NONE);
      try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
        session.append(Arrays.copyOf(tokens, BLOCK), each.views(tokens, BLOCK));
      }
    }
    store.flush();
    for (int seed = 0; seed < 50; seed++) {
      SimulatedDirectory lost = disk.crashState(seed);
      try (SnapshotStore again =
          SnapshotStore.open(lost, options, () -> 1_700_000_000_000L, YieldPoints.NONE)) {
        // Two pages are set aside: for LOCK, and for CURRENT's successor.
        assertThat(again.stats().allocatedBytes() - lost.allocatedBytes())
            .as("seed " + seed)
            .isBetween(0L, 2 * 4_096L);
        for (SampleModel each : List.of(model, other)) {
          Namespace ns = again.namespace(each.identity, each.layout);
          assertThat(ns.match(tokens).storedTokens()).isEqualTo(BLOCK);
        }
      }
    }
    store.abandon();
  }

  /** Points are added above one whose own delta holds all of its window, and then lost. */
  @Test
  void whatIsLostTakesAlongOnlyWhatNeedsIt() {
    int[] tokens = QuotaTest.prompt(1, 4 * BLOCK + 1);
    try (TestStore test = new TestStore(TestStore.options("24MiB").build())) {
      Namespace ns = test.store().namespace(model.identity, model.layout);
      PrefillPlan plan = PrefillPlan.tokens(tokens.length).policy(RestorePolicy.LAST);
      try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
        model.appendRest(session, tokens, 4 * BLOCK);
        session.promptComplete();
      }
      assertThat(ns.match(tokens).points()).containsExactly(4 * BLOCK);
      plan = plan.policy(RestorePolicy.EVERY).durability(Durability.NONE).from(0);
      try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
        model.appendRest(session, tokens, 4 * BLOCK);
      }
      test.directory().inject(Fault.ioError(OperationKind.FORCE).onFile("delta-").times(3));
      assertThatThrownBy(test.store()::flush).isInstanceOf(DurabilityLostException.class);
      assertThat(ns.match(tokens).points()).containsExactly(4 * BLOCK);
      test.killAndReopen();
      ns = test.store().namespace(model.identity, model.layout);
      assertThat(model.restoreAndCheck(ns.match(tokens), tokens)).isEqualTo(4 * BLOCK);
    }
  }

  private static SimulatedDirectory powerLoss(SimulatedDirectory disk, SnapshotStore store) {
    SimulatedDirectory lost = disk.crashState(5);
    store.abandon();
    return lost;
  }
}
