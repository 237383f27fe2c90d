package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.RestorePolicy;
import dev.waymark.sim.OperationKind;
import dev.waymark.sim.SimulatedDirectory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A store on which nothing is called writes nothing, whatever is dead in it. */
class IdleStatusTest {
  private final SampleModel model = new SampleModel("one", 1 << 10, 0, 0);

  @Test
  void deadBytesThatCannotGoCauseNoWrites() {
    SimulatedDirectory disk = new SimulatedDirectory();
    SimulatedDirectory directory = disk.another();
    AtomicInteger writes = new AtomicInteger();
    try (SnapshotStore store =
        SnapshotStore.open(
            directory,
            TestStore.options("64MiB").punchHoles(false).build(),
            () -> 1_700_000_000_000L,
            label -> directory.yieldPoint(label))) {
      Namespace ns = store.namespace(model.identity, model.layout);
      PrefillPlan plan = PrefillPlan.tokens(65).policy(RestorePolicy.EVERY);
      model.store(ns, QuotaTest.prompt(1, 65), plan);
      model.store(ns, QuotaTest.prompt(2, 65), plan);
      store.maintenance().deleteChain(ns.match(QuotaTest.prompt(2, 65)), false);
      store.runOnce();
      assertThat(store.stats().deadBytes()).isPositive();
      directory.setYieldPoints(
          call -> {
            if (call.equals(OperationKind.WRITE.name())) {
              writes.incrementAndGet();
            }
          });
      for (int i = 0; i < 20; i++) {
        store.runOnce();
      }
      assertThat(writes.get()).isZero();
    }
  }
}
