package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.waymark.error.StoreIoException;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import dev.waymark.sim.SimulatedDirectory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whom the emptying of segments waits for, and what a failure in it leaves. */
class CompactionTest {
  private static final long MIB = 1L << 20;
  private static final int PROMPTS = 60;

  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);
  private final SimulatedDirectory disk = new SimulatedDirectory();

  private SnapshotStore open() {
    StoreOptions options =
        StoreOptions.builder().quota(64 * MIB).backgroundThread(false).punchHoles(false).build();
    return SnapshotStore.open(disk, options, () -> 1_700_000_000_000L, YieldPoints.NONE);
  }

  private static int[] prompt(int seed) {
    return QuotaTest.prompt(seed, 321);
  }

  /** Segments of which a quarter lives. */
  private Namespace mostlyDead(SnapshotStore store) {
    Namespace ns = store.namespace(model.identity, model.layout);
    for (int i = 0; i < PROMPTS; i++) {
      model.store(ns, prompt(i), PrefillPlan.tokens(321));
    }
    for (int i = 0; i < PROMPTS; i++) {
      if (i % 4 != 0) {
        store.maintenance().deleteChain(ns.match(prompt(i)), false);
      }
    }
    return ns;
  }

  private void allAreThere(Namespace ns) {
    for (int i = 0; i < PROMPTS; i += 4) {
      assertThat(model.restoreAndCheck(ns.match(prompt(i)), prompt(i))).isEqualTo(320);
    }
  }

  private static CompactionReport compact(SnapshotStore store, boolean dryRun) {
    return store.maintenance().compact(0.6, 64 * MIB, dryRun, (a, b, c) -> true);
  }

  private static List<Long> candidates(SnapshotStore store) {
    return compact(store, true).candidates().stream()
        .map(CompactionReport.Candidate::segmentId)
        .toList();
  }

  @Test
  void whatIsMovedWaitsForNobodyWhoReadsSomethingElse() {
    try (SnapshotStore store = open()) {
      Namespace ns = mostlyDead(store);
      try (RestoredState reading = ns.match(prompt(0)).restore()) {
        CompactionReport done = compact(store, false);
        assertThat(done.emptiedSegments()).isPositive();
        assertThat(store.engine().segments.waitingBytes()).isZero();
        assertThat(model.check(reading, prompt(0))).isEqualTo(320);
      }
      allAreThere(ns);
    }
  }

  @Test
  void whatIsMovedWaitsForThoseWhoReadIt() {
    try (SnapshotStore store = open()) {
      Namespace ns = mostlyDead(store);
      RestoredState reading = ns.match(prompt(0)).restore();
      List<Long> without = candidates(store);
      reading.close();
      List<Long> all = candidates(store);
      assertThat(all).containsAll(without).hasSizeGreaterThan(without.size());
      long read = all.stream().filter(id -> !without.contains(id)).findFirst().orElseThrow();
      // Asked for by its number, it is emptied all the same; its bytes stay till they are read.
      try (RestoredState again = ns.match(prompt(0)).restore()) {
        SpaceKeeper space = store.engine().space;
        space.copyOut(space.begin(read), () -> false);
        assertThat(store.engine().segments.has(read)).isTrue();
        assertThat(model.check(again, prompt(0))).isEqualTo(320);
      }
      store.runOnce();
      assertThat(store.engine().segments.has(read)).isFalse();
      allAreThere(ns);
    }
  }

  @Test
  void aPrefillThatBuildsOnAChainDoesNotKeepItsSegmentsFromBeingEmptied() {
    try (SnapshotStore store = open()) {
      Namespace ns = mostlyDead(store);
      List<Long> all = candidates(store);
      PrefixMatch match = ns.match(prompt(0));
      try (PrefillSession session = ns.prefill(match, PrefillPlan.tokens(321))) {
        assertThat(session.tokens()).isEqualTo(320);
        assertThat(candidates(store)).isEqualTo(all);
        compact(store, false);
        assertThat(all).noneMatch(store.engine().segments::has);
      }
      allAreThere(ns);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = OperationKind.class,
      names = {"GET", "PUT", "MAP", "ALLOCATE", "CREATE", "FORCE"})
  void aSegmentThatCouldNotBeEmptiedHasItsTurnAgain(OperationKind kind) {
    try (SnapshotStore store = open()) {
      Namespace ns = mostlyDead(store);
      List<Long> before = candidates(store);
      // Used again, so that it is worth a copy.
      allAreThere(ns);
      // A page too little: there is room for copies, and they are needed.
      QuotaGate gate = store.engine().space.gate();
      long quota = gate.quotaBytes() - gate.freeBytes() - 4_096;
      disk.inject(Fault.ioError(kind).sticky().onFile(".seg"));
      Throwable failure = catchThrowable(() -> store.setQuota(quota));
      disk.clearFaults();
      if (kind != OperationKind.FORCE) {
        assertThat(failure).isInstanceOf(StoreIoException.class);
        assertThat(candidates(store)).isEqualTo(before);
      }
      store.setQuota(quota);
      assertThat(disk.allocatedBytes()).isLessThanOrEqualTo(quota);
      for (int i = 0; i < PROMPTS; i += 4) {
        PrefixMatch match = ns.match(prompt(i));
        if (match.restorableTokens() > 0) {
          model.restoreAndCheck(match, prompt(i));
        }
      }
    }
  }
}
