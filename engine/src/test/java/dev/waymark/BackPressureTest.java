package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.BackPressureException;
import dev.waymark.error.ClosedException;
import dev.waymark.error.ConcurrentUseException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What callers chose for when the disk does not keep up. The disk here is blocked: a force does not
 * return before the test says so. {@link RandomRun} holds the choices against the plain model.
 */
@Timeout(120)
class BackPressureTest {
  private static final int BLOCK = 8;
  private static final long MOST = 104 << 10;

  /** Blocks of 16 KiB of rows, and as much state again at a point. */
  private static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.rows("k", DType.F32, 1, TensorSpec.TOKEN_AXIS, 512),
          TensorSpec.fixed("s", DType.F32, 4_096));

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(40 * BLOCK, 0, 1_000).toArray();
  private final TestStore test =
      new TestStore(TestStore.options("64MiB").group(MOST, 60_000).maxInFlight(MOST).build());
  private final Namespace ns = test.namespace(LAYOUT);
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch unblocked = new CountDownLatch(1);
  private final Thread forcing = new Thread(() -> test.store().runOnce());

  @AfterEach
  void closeAll() throws InterruptedException {
    unblock();
    test.close();
  }

  private PrefillSession prefill(BackPressure choice) {
    PrefillPlan plan =
        PrefillPlan.tokens(prompt.length).policy(RestorePolicy.EVERY).backPressure(choice);
    return ns.prefill(ns.match(new int[0]), plan);
  }

  private AppendReceipt append(PrefillSession session, int tokens) {
    int from = session.tokens();
    int to = from + tokens;
    return session.append(
        Arrays.copyOfRange(prompt, from, to), model.views(new Random(1), prompt, from, to, true));
  }

  /** From here on, the force that comes first is under way and does not end. */
  private void block() throws InterruptedException {
    test.directory()
        .setYieldPoints(
            kind -> {
              if (kind.equals("FORCE")) {
                reached.countDown();
                awaitUninterruptibly(unblocked);
              }
            });
    forcing.start();
    reached.await();
  }

  private void unblock() throws InterruptedException {
    unblocked.countDown();
    forcing.join();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Until it waits for others, not for a monitor. */
  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      assertThat(thread.isAlive()).isTrue();
      Thread.onSpinWait();
    }
  }

  private void awaitEnding(PrefillSession session) {
    while (true) {
      try {
        session.append(new int[0], model.plainViews(prompt, 0));
      } catch (ClosedException e) {
        return;
      } catch (ConcurrentUseException e) {
        Thread.onSpinWait();
      }
    }
  }

  private void assertAllRestores(int tokens) {
    PrefixMatch match = ns.match(Prompt.ofTokens(prompt), tokens);
    assertThat(match.storedTokens()).isEqualTo(tokens);
    for (int at : match.points()) {
      model.assertRestores(new Random(at), match, at, prompt);
    }
  }

  @Test
  void anAppendThatMayFailDoesSoBeforeItsFirstByteAndGoesInLater() throws InterruptedException {
    PrefillSession session = prefill(BackPressure.FAIL);
    append(session, BLOCK);
    block();
    append(session, BLOCK);
    var before = test.state();
    long recordBytes = test.store().engine().counters.recordBytes.sum();
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> append(session, 2 * BLOCK))
          .isInstanceOf(BackPressureException.class)
          .hasMessageContaining("at most " + MOST + " bytes in flight");
    }
    assertThat(session.tokens()).isEqualTo(2 * BLOCK);
    assertThat(test.state()).isEqualTo(before);
    assertThat(test.store().engine().counters.recordBytes.sum()).isEqualTo(recordBytes);
    unblock();
    test.store().runOnce();
    append(session, 2 * BLOCK);
    session.promptComplete();
    session.close();
    assertAllRestores(4 * BLOCK);
  }

  @Test
  void anAppendThatWidensLeavesOutPointsAndNeverRows() throws InterruptedException {
    PrefillSession session = prefill(BackPressure.WIDEN);
    assertThat(append(session, BLOCK).pointAdded()).isTrue();
    block();
    assertThat(append(session, BLOCK).pointAdded()).isTrue();
    AppendReceipt skipped = append(session, BLOCK);
    assertThat(skipped.pointSkipped()).isTrue();
    assertThat(skipped.pointAdded()).isFalse();
    assertThat(skipped.appendedBytes()).isEqualTo(BLOCK * 2_048);
    unblock();
    AppendReceipt after = append(session, BLOCK);
    test.store().runOnce();
    AppendReceipt later = append(session, BLOCK);
    assertThat(after.pointSkipped()).isFalse();
    assertThat(later.pointAdded()).isTrue();
    session.promptComplete();
    session.close();
    assertAllRestores(5 * BLOCK);
    assertThat(test.store().stats().skippedPoints()).isEqualTo(1);
  }

  /** An interrupt ends no wait and is not lost; an abort ends it as soon as the disk answers. */
  @Test
  void anAppendThatBlocksWaitsThroughInterruptsAndNotThroughAborts() throws InterruptedException {
    PrefillSession session = prefill(BackPressure.BLOCK);
    PrefillSession aborted = prefill(BackPressure.BLOCK);
    append(session, BLOCK);
    block();
    AtomicReference<Boolean> interrupted = new AtomicReference<>();
    Thread waiting =
        new Thread(
            () -> {
              append(session, 10 * BLOCK);
              interrupted.set(Thread.interrupted());
            });
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread other =
        new Thread(
            () -> {
              try {
                append(aborted, 20 * BLOCK);
              } catch (ClosedException e) {
                failure.set(e);
              }
            });
    waiting.start();
    other.start();
    awaitWaiting(waiting);
    awaitWaiting(other);
    for (int i = 0; i < 5; i++) {
      waiting.interrupt();
      awaitWaiting(waiting);
    }
    Thread aborting = new Thread(() -> aborted.abort(AbortMode.DISCARD));
    aborting.start();
    awaitEnding(aborted);
    unblock();
    waiting.join();
    other.join();
    aborting.join();
    assertThat(interrupted.get()).isTrue();
    assertThat(failure.get()).isInstanceOf(ClosedException.class);
    session.promptComplete();
    session.close();
    assertAllRestores(11 * BLOCK);
    assertThat(test.store().stats().boundaries()).isEqualTo(11);
  }

  /** What can never fit waits for itself, under every choice, once it is alone. */
  @Test
  void anAppendLargerThanAllThatMayBeInFlightGoesInAlone() {
    for (BackPressure choice : BackPressure.values()) {
      test.store().runOnce();
      try (PrefillSession session = prefill(choice)) {
        append(session, 12 * BLOCK);
        session.abort(AbortMode.DISCARD);
      }
    }
    assertThat(test.store().stats().boundaries()).isZero();
    assertThat(test.store().engine().segments.inFlightBytes()).isLessThanOrEqualTo(MOST);
  }
}
