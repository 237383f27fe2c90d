package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DiskFullException;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.publish.Publisher;
import dev.waymark.layout.AbortMode;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A session that is to discard does so, however full the disk is when it ends. */
class DiscardOnFullDiskTest {
  /** More than the steps drop that may go into what the manifest holds back. */
  private static final int LEAST_BLOCKS = 600;

  private static final int MOST_BLOCKS = 4_000;
  private static final long LITTLE_BYTES = ManifestLog.RESERVE_BYTES + (16 << 10);

  private final SampleModel model = new SampleModel("m", 16, 0, 0);
  private final int[] prompt = QuotaTest.prompt(1, 16 * MOST_BLOCKS + 1);

  /** Appended until the manifest has little room left that is not held back, but not closed. */
  private PrefillSession session(TestStore test) {
    Namespace ns = test.store().namespace(model.identity, model.layout);
    PrefillSession session =
        ns.prefill(ns.match(prompt), PrefillPlan.tokens(prompt.length).onAbort(AbortMode.DISCARD));
    Publisher publisher = test.store().engine().publisher;
    int blocks = LEAST_BLOCKS;
    do {
      FieldLayouts.appendZeros(session, model.layout, prompt, 16 * blocks);
      test.store().flush();
      blocks += 8;
    } while (publisher.manifestAllocatedBytes() - publisher.manifestLengthBytes() > LITTLE_BYTES);
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
    long before = test.store().stats().boundaries();
    fill(test);
    assertThatThrownBy(session::close).isInstanceOf(DiskFullException.class);
    assertThat(test.store().stats().boundaries()).isGreaterThan(0).isLessThan(before);
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
      test.directory().clearFaults();
      test.killAndReopen();
      assertThat(test.store().recovery().sessionsDiscarded()).isEqualTo(1);
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

  @Test
  void aPrefillThatHasNoRoomToBeginIsNotOpen() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      PrefillSession adds = session(test);
      fill(test);
      Namespace ns = test.store().namespace(model.identity, model.layout);
      PrefillPlan plan = PrefillPlan.tokens(prompt.length).onAbort(AbortMode.DISCARD);
      List<PrefillSession> begun = new ArrayList<>();
      assertThatThrownBy(
              () -> {
                while (begun.size() < 10_000) {
                  begun.add(ns.prefill(ns.match(prompt), plan));
                }
              })
          .isInstanceOf(DiskFullException.class);
      assertThat(test.store().stats().openSessions()).isEqualTo(1 + begun.size());
      test.directory().clearFaults();
      adds.close();
      begun.forEach(PrefillSession::close);
      requireGone(test);
    }
  }
}
