package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.waymark.error.DiskFullException;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import org.junit.jupiter.api.Test;

/** On a full disk a store reads, and can always write down what frees space. */
class FullDiskTest {
  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);

  private static int[] prompt(int seed) {
    return QuotaTest.prompt(seed, 321);
  }

  private static long reserveBytes(TestStore test) {
    StoreEngine engine = test.store().engine();
    return engine.publisher.manifestAllocatedBytes() - engine.publisher.manifestLengthBytes();
  }

  @Test
  void onlyWhatFreesSpaceIsWrittenIntoTheReserve() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      SnapshotStore store = test.store();
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 0; i < 10; i++) {
        model.store(ns, prompt(i), PrefillPlan.tokens(321));
      }
      store.flush();
      test.directory().inject(Fault.diskFull(OperationKind.ALLOCATE).sticky());
      // Restores go on for ever: their touches are held back before they use up the reserve.
      for (int i = 0; i < 3_000; i++) {
        ns.match(prompt(i % 10)).restore().close();
        if (i % 10 == 0) {
          store.flush();
        }
      }
      assertThat(reserveBytes(test)).isGreaterThanOrEqualTo(ManifestLog.RESERVE_BYTES - 4_096);
      long recency = store.maintenance().sequence();
      ns.match(prompt(3)).restore().close();
      // Nothing else may use it either, and is refused whole.
      for (int i = 0; i < 100; i++) {
        String name = "kept " + i;
        Throwable refused = catchThrowable(() -> ns.keep(ns.match(prompt(3)), name));
        assertThat(refused).isInstanceOf(DiskFullException.class);
        Throwable prefill =
            catchThrowable(() -> model.store(ns, prompt(100), PrefillPlan.tokens(321)));
        assertThat(prefill).isInstanceOf(DiskFullException.class);
      }
      assertThat(store.kept()).isEmpty();
      assertThat(store.stats().boundaries()).isEqualTo(200);
      assertThat(reserveBytes(test)).isGreaterThanOrEqualTo(ManifestLog.RESERVE_BYTES - 4_096);
      // What frees space is written, and is durable.
      store.maintenance().deleteChain(ns.match(prompt(0)), false);
      store.maintenance().deleteUsedBefore(recency, false);
      assertThat(store.stats().boundaries()).isEqualTo(20);
      assertThat(store.stats().deadBytes()).isZero();
      test.directory().clearFaults();
      test.killAndReopen();
      Namespace there = test.store().namespace(model.identity, model.layout);
      assertThat(test.store().stats().boundaries()).isEqualTo(20);
      assertThat(model.restoreAndCheck(there.match(prompt(3)), prompt(3))).isEqualTo(320);
    }
  }

  @Test
  void aCheckpointForWhichThereIsNoRoomLeavesTheManifestInForce() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      SnapshotStore store = test.store();
      Namespace ns = store.namespace(model.identity, model.layout);
      model.store(ns, prompt(1), PrefillPlan.tokens(321));
      store.flush();
      long manifest = store.engine().publisher.manifestId();
      test.directory().inject(Fault.diskFull(OperationKind.CREATE).onFile("manifest-").sticky());
      for (int i = 0; i < 20_000; i++) {
        ns.match(prompt(1)).restore().close();
        if (i % 100 == 0) {
          store.flush();
        }
      }
      assertThat(store.engine().publisher.manifestId()).isEqualTo(manifest);
      assertThat(store.engine().publisher.manifestLengthBytes()).isGreaterThan(1 << 20);
      model.store(ns, prompt(2), PrefillPlan.tokens(321));
      store.flush();
      test.directory().clearFaults();
      test.killAndReopen();
      Namespace there = test.store().namespace(model.identity, model.layout);
      assertThat(model.restoreAndCheck(there.match(prompt(2)), prompt(2))).isEqualTo(320);
    }
  }
}
