package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.ClosedException;
import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.publish.Publisher;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import dev.waymark.sim.SimulatedDirectory;
import dev.waymark.sim.SimulationSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said to be durable, and the account over a change of manifest. */
class DurabilityTest {
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.window("w", DType.BF16, 6, 1, 2, -1, 8),
          TensorSpec.fixed("s", DType.F32, 2, 16));

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(21, 0, 1_000).toArray();

  private PrefillSession prefill(Namespace ns) {
    return ns.prefill(
        ns.match(prompt),
        PrefillPlan.tokens(21).policy(RestorePolicy.EVERY).durability(Durability.NONE));
  }

  private AppendReceipt append(PrefillSession session) {
    int end = session.tokens() + 4;
    return session.append(Arrays.copyOfRange(prompt, end - 4, end), model.plainViews(prompt, end));
  }

  @Test
  void aSessionRemembersOnlyWhatIsNotDurableYet() {
    int[] longer = new Random(1).ints(401, 0, 1_000).toArray();
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      // The second finds what the first wrote, and publishes nothing for it.
      for (Durability durability : List.of(Durability.COMMIT, Durability.NONE)) {
        try (PrefillSession session =
            ns.prefill(ns.match(new int[0]), PrefillPlan.tokens(401).durability(durability))) {
          for (int end = 4; end <= 400; end += 4) {
            session.append(Arrays.copyOfRange(longer, end - 4, end), model.plainViews(longer, end));
            assertThat(session.undurableBoundaries()).isLessThanOrEqualTo(2);
          }
          test.store().flush();
          assertThat(session.durableTokens()).isEqualTo(400);
          session.promptComplete();
        }
      }
    }
  }

  @Test
  void blocksThatAreThereAreDurableNoEarlierThanWhoWroteThem() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession second = prefill(ns);
      PrefillSession first = prefill(ns);
      test.store().flush();
      AppendReceipt written = append(first);
      AppendReceipt found = append(second);
      assertThat(found.appendedBytes()).isZero();
      assertThat(written.durable()).isNotDone();
      assertThat(found.durable()).isNotDone();
      assertThat(second.durableTokens()).isZero();
      // One that starts at a point which is not durable yet.
      PrefillSession third = prefill(ns);
      assertThat(third.tokens()).isEqualTo(4);
      assertThat(third.durableTokens()).isZero();
      test.store().flush();
      assertThat(written.durable()).isCompleted();
      assertThat(found.durable()).isCompleted();
      assertThat(first.durableTokens()).isEqualTo(4);
      assertThat(second.durableTokens()).isEqualTo(4);
      assertThat(third.durableTokens()).isEqualTo(4);
    }
  }

  @Test
  void aCommitOfBlocksThatAreThereForcesThem() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession second =
          ns.prefill(
              ns.match(prompt),
              PrefillPlan.tokens(21).policy(RestorePolicy.EVERY).durability(Durability.COMMIT));
      PrefillSession first = prefill(ns);
      append(first);
      append(second);
      assertThat(second.durableTokens()).isEqualTo(4);
      test.killAndReopen();
      assertThat(test.namespace(LAYOUT).match(prompt).points()).containsExactly(4);
    }
  }

  @Test
  void aReceiptWaitsForNothingThatBecomesDurableAfterIt() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      Publisher publisher = test.store().engine().publisher;
      List<Long> order = new ArrayList<>();
      PrefillSession session = prefill(ns);
      append(session);
      long early = publisher.read(publisher::published);
      append(session);
      append(session);
      long late = publisher.read(publisher::published);
      // Asked for in the wrong order, some twice, and one that is not there yet.
      for (long number : new long[] {late, late + 1, early, late - 1, early, late}) {
        publisher.whenDurable(number).thenRun(() -> order.add(number));
      }
      test.store().flush();
      assertThat(order).containsExactly(early, early, late - 1, late, late);
      append(session);
      test.store().flush();
      assertThat(order).endsWith(late, late + 1);
    }
  }

  @Test
  void whatARecipientDoesHoldsNothingUp() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession first = prefill(ns);
      PrefillSession second =
          ns.prefill(ns.match(new int[0]), PrefillPlan.tokens(21).durability(Durability.NONE));
      AppendReceipt receipt = append(first);
      List<Integer> seen = new ArrayList<>();
      receipt
          .durable()
          .thenRun(
              () -> {
                // Uses the store: it is in none of the store's locks.
                append(second);
                test.store().flush();
                seen.add(second.durableTokens());
                throw new IllegalStateException("a recipient that fails");
              });
      AppendReceipt next = append(first);
      test.store().flush();
      assertThat(seen).containsExactly(4);
      assertThat(next.durable()).isCompleted();
    }
  }

  @Test
  void aRecipientOfALossMayUseTheStore() {
    // What could not be forced is not in memory any more.
    SimulatedDirectory disk =
        new SimulatedDirectory(SimulationSettings.defaults().dropAfterFailedForce(true));
    try (TestStore test = new TestStore(disk, TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession session = prefill(ns);
      AppendReceipt receipt = append(session);
      List<String> seen = new ArrayList<>();
      receipt
          .durable()
          .whenComplete(
              (done, failure) -> {
                boolean other = !runElsewhere(() -> ns.match(prompt).storedTokens()).equals(4);
                seen.add(failure.getClass().getSimpleName() + (other ? ", gone" : ", there"));
              });
      test.directory().inject(Fault.ioError(OperationKind.FORCE).onFile(".seg").times(2));
      assertThatThrownBy(() -> test.store().flush()).isInstanceOf(WaymarkException.class);
      test.directory().clearFaults();
      assertThat(seen).containsExactly("DurabilityLostException, gone");
      session.abort();
    }
  }

  @Test
  void aStoreThatCannotBeClosedLeavesNobodyWaiting() {
    SimulatedDirectory disk = new SimulatedDirectory();
    TestStore test = new TestStore(disk, TestStore.options("64MiB").build());
    PrefillSession session = prefill(test.namespace(LAYOUT));
    AppendReceipt receipt = append(session);
    AtomicReference<Throwable> told = new AtomicReference<>();
    receipt.durable().whenComplete((done, failure) -> told.set(failure));
    long number = test.store().engine().publisher.read(test.store().engine().publisher::published);
    test.directory().inject(Fault.ioError(OperationKind.FORCE).onFile("manifest-").sticky());
    assertThatThrownBy(() -> test.store().close()).isInstanceOf(StoreIoException.class);
    assertThat(told.get()).isInstanceOf(ClosedException.class);
    assertThat(test.store().engine().publisher.whenDurable(number + 1)).isCompletedExceptionally();
    disk.assertAllClosed();
  }

  /**
   * @param byFlush whether the loss is found by the flush itself, or by a commit before it
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLossIsReportedByOneFlush(boolean byFlush) {
    SimulatedDirectory disk =
        new SimulatedDirectory(SimulationSettings.defaults().dropAfterFailedForce(true));
    try (TestStore test = new TestStore(disk, TestStore.options("64MiB").build())) {
      PrefillSession session = prefill(test.namespace(LAYOUT));
      append(session);
      test.directory().inject(Fault.ioError(OperationKind.FORCE).onFile(".seg").times(2));
      if (!byFlush) {
        assertThatThrownBy(() -> test.store().engine().publisher.commit())
            .isInstanceOf(DurabilityLostException.class);
      }
      assertThatThrownBy(() -> test.store().flush()).isInstanceOf(DurabilityLostException.class);
      test.store().flush();
      session.abort();
      PrefixMatch match = test.namespace(LAYOUT).match(prompt);
      assertThat(match.why()).isEqualTo(MissReason.DAMAGED);
    }
  }

  @Test
  void thoseWhoWaitDoNotBecomeMoreAndMore() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      AppendReceipt first = append(prefill(test.namespace(LAYOUT)));
      Publisher publisher = test.store().engine().publisher;
      long number = publisher.read(publisher::published);
      // Nobody writes, and so nobody else has a reason to commit.
      for (int i = 0; i < 1 << 14; i++) {
        publisher.whenDurable(number);
      }
      assertThat(first.durable()).isCompleted();
      assertThat(publisher.whenDurable(number)).isCompleted();
    }
  }

  /** On another thread, so that what is locked by this one is seen to be. */
  private static <T> T runElsewhere(Callable<T> call) {
    try {
      return CompletableFuture.supplyAsync(
              () -> {
                try {
                  return call.call();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              })
          .get(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("the store is locked", e);
    }
  }

  @Test
  void aNewManifestChangesNothingButTheManifest() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession open = prefill(ns);
      append(open);
      append(open);
      // Restores write to the manifest what a new one leaves out.
      for (int i = 0; i < 200; i++) {
        ns.match(prompt).restore().close();
      }
      test.store().flush();
      long written = test.store().stats().writtenBytes();
      for (int i = 0; i < 3; i++) {
        test.store().engine().publisher.checkpoint();
        test.check();
        long now = test.store().stats().writtenBytes();
        assertThat(now).as("a manifest is written too").isGreaterThan(written);
        written = now;
        append(open);
      }
      test.store().flush();
      test.killAndReopen();
      PrefixMatch match = test.namespace(LAYOUT).match(prompt);
      assertThat(match.points()).containsExactly(4, 8, 12, 16, 20);
      for (int at : match.points()) {
        model.assertRestores(new Random(at), match, at, prompt);
      }
    }
  }
}
