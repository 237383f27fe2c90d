package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DiskFullException;
import dev.waymark.layout.AbortMode;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import org.junit.jupiter.api.Test;

/** A session that is to discard does so, however full the disk is when it ends. */
class DiscardOnFullDiskTest {
  private static final int BLOCKS = 3_000;
  private final SampleModel model = new SampleModel("m", 16, 0, 0);
  private final int[] prompt = QuotaTest.prompt(1, 16 * BLOCKS + 1);

  /** Appended, but not closed. */
  private PrefillSession session(TestStore test) {
    Namespace ns = test.store().namespace(model.identity, model.layout);
    PrefillSession session =
        ns.prefill(ns.match(prompt), PrefillPlan.tokens(prompt.length).onAbort(AbortMode.DISCARD));
    FieldLayouts.appendZeros(session, model.layout, prompt, prompt.length);
    test.store().flush();
    return session;
  }

  /** The manifest can grow no more, and has no successor. */
  private static void fill(TestStore test) {
    test.directory().inject(Fault.diskFull(OperationKind.ALLOCATE).sticky());
    test.directory().inject(Fault.diskFull(OperationKind.CREATE).onFile("manifest-").sticky());
  }

  private void requireGone(TestStore test) {
    SnapshotStore store = test.store();
    assertThat(store.stats().boundaries()).isZero();
    assertThat(store.engine().forest.sessions()).isEmpty();
    store.maintenance().deleteNamespace(store.namespace(model.identity, model.layout), false);
    assertThat(store.engine().forest.namespaces()).isEmpty();
    test.check();
  }

  private PrefillSession refused(TestStore test) {
    PrefillSession session = session(test);
    fill(test);
    assertThatThrownBy(session::close).isInstanceOf(DiskFullException.class);
    assertThat(test.store().stats().boundaries()).isBetween(1L, BLOCKS - 1L);
    return session;
  }

  @Test
  void theStoresOwnThreadGoesOnOnceThereIsRoom() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      refused(test);
      test.store().runOnce();
      assertThat(test.store().engine().forest.sessions()).hasSize(1);
      test.directory().clearFaults();
      test.store().runOnce();
      requireGone(test);
    }
  }

  @Test
  void whoeverClosesItAgainGoesOn() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      PrefillSession session = refused(test);
      assertThatThrownBy(session::close).isInstanceOf(DiskFullException.class);
      test.directory().clearFaults();
      session.close();
      requireGone(test);
      session.close();
    }
  }

  @Test
  void closingTheStoreGoesOn() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      refused(test);
      test.directory().clearFaults();
      test.reopen();
      assertThat(test.store().recovery().sessionsDiscarded()).isZero();
      requireGone(test);
    }
  }

  @Test
  void openingTheStoreGoesOnWhereItDied() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      refused(test);
      test.killAndReopen();
      requireGone(test);
    }
  }

  @Test
  void enoughIsHeldBackForOthersToFreeSpace() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      SampleModel small = new SampleModel("other", 256, 0, 0);
      Namespace other = test.store().namespace(small.identity, small.layout);
      small.store(other, QuotaTest.prompt(2, 321), PrefillPlan.tokens(321));
      PrefillSession session = refused(test);
      for (int i = 0; i < 100; i++) {
        test.store().runOnce();
        assertThatThrownBy(session::close).isInstanceOf(DiskFullException.class);
      }
      assertThat(
              test.store()
                  .maintenance()
                  .deleteChain(other.match(QuotaTest.prompt(2, 321)), false)
                  .boundaries())
          .isEqualTo(20);
      test.store().flush();
    }
  }
}
