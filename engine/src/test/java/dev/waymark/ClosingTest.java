package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.ClosedException;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.sim.SimulatedDirectory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** Closing runs under no call that uses files, and calls that come later are refused. */
class ClosingTest {
  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);

  private static int[] prompt(int seed) {
    return QuotaTest.prompt(seed, 321);
  }

  /** Calls outside of sessions and restores that read, write or force files. */
  private Map<String, Runnable> calls(SnapshotStore store, Namespace ns, PrefixMatch match) {
    Maintenance maintenance = store.maintenance();
    PrefixMatch other = ns.match(prompt(2));
    Map<String, Runnable> calls = new LinkedHashMap<>();
    calls.put("flush", store::flush);
    calls.put("runOnce", store::runOnce);
    int[] fresh = prompt(40);
    PrefillPlan plan = PrefillPlan.tokens(321);
    PrefixMatch none = ns.match(fresh);
    calls.put("estimate", () -> ns.estimate(none, plan));
    calls.put("admit", () -> ns.admit(none, plan).close());
    calls.put("keep", () -> ns.keep(match, "a"));
    calls.put("release", () -> ns.release("a"));
    calls.put("keep again", () -> ns.keep(match, "b"));
    calls.put("release of a name", () -> maintenance.release("b"));
    calls.put("delete a chain", () -> maintenance.deleteChain(other, false));
    calls.put("compact", () -> maintenance.compact(1, Long.MAX_VALUE, false, (a, b, c) -> true));
    calls.put("namespace quota", () -> ns.setQuota(2 << 20));
    calls.put("quota", () -> store.setQuota(16 << 20));
    calls.put("enforce", store::enforce);
    calls.put("delete what is old", () -> maintenance.deleteOlderThan(Duration.ZERO, false));
    calls.put("delete what was used before", () -> maintenance.deleteUsedBefore(40, false));
    calls.put("delete a namespace", () -> maintenance.deleteNamespace(ns, false));
    return calls;
  }

  @Test
  void everyCallThatUsesFilesHoldsClosingOff() {
    TestStore test = new TestStore(TestStore.options("32MiB").build());
    SnapshotStore store = test.store();
    Namespace ns = store.namespace(model.identity, model.layout);
    for (int i = 0; i < 30; i++) {
      model.store(ns, prompt(i), PrefillPlan.tokens(321));
    }
    Map<String, Runnable> calls = calls(store, ns, ns.match(prompt(29)));
    List<String> unguarded = new ArrayList<>();
    List<String> reached = new ArrayList<>();
    calls.forEach(
        (name, call) -> {
          test.directory()
              .setYieldPoints(
                  label -> {
                    reached.add(name);
                    if (store.engine().uses.getReadHoldCount() == 0) {
                      unguarded.add(name + " at " + label);
                    }
                  });
          call.run();
        });
    test.directory().setYieldPoints(label -> {});
    assertThat(unguarded).isEmpty();
    assertThat(reached).contains("keep", "release", "release of a name", "delete a chain");
    test.close();
    calls.forEach(
        (name, call) -> assertThatThrownBy(call::run).as(name).isInstanceOf(ClosedException.class));
  }

  @Test
  void aCompactionMayCloseTheStoreBetweenTwoSegments() {
    SnapshotStore store =
        SnapshotStore.open(
            new SimulatedDirectory(),
            TestStore.options("32MiB").punchHoles(false).build(),
            () -> 1_700_000_000_000L,
            YieldPoints.NONE);
    Namespace ns = store.namespace(model.identity, model.layout);
    for (int i = 0; i < 20; i++) {
      model.store(ns, prompt(i), PrefillPlan.tokens(321));
      if (i % 2 == 0) {
        store.maintenance().deleteChain(ns.match(prompt(i)), false);
      }
    }
    assertThatThrownBy(
            () ->
                store
                    .maintenance()
                    .compact(
                        1,
                        Long.MAX_VALUE,
                        false,
                        (a, b, c) -> {
                          store.close();
                          return true;
                        }))
        .isInstanceOf(ClosedException.class);
  }

  @Test
  void aPrefillThatStartsHoldsClosingOff() {
    SnapshotStore[] open = new SnapshotStore[1];
    List<Integer> holds = new ArrayList<>();
    // Asked for the time in the middle of it.
    LongSupplier clock =
        () -> {
          if (open[0] != null) {
            holds.add(open[0].engine().uses.getReadHoldCount());
          }
          return 1_700_000_000_000L;
        };
    try (SnapshotStore store =
        SnapshotStore.open(
            new SimulatedDirectory(),
            TestStore.options("32MiB").build(),
            clock,
            YieldPoints.NONE)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      PrefixMatch match = ns.match(prompt(1));
      PrefillPlan plan = PrefillPlan.tokens(321);
      open[0] = store;
      ns.prefill(match, plan);
      assertThat(holds).isNotEmpty().doesNotContain(0);
      holds.clear();
      Admission admission = ns.admit(match, plan);
      holds.clear();
      admission.prefill();
      assertThat(holds).isNotEmpty().doesNotContain(0);
      open[0] = null;
      Admission late = ns.admit(match, plan);
      store.close();
      assertThatThrownBy(late::prefill).isInstanceOf(ClosedException.class);
      assertThatThrownBy(() -> ns.prefill(match, plan)).isInstanceOf(ClosedException.class);
    }
  }
}
