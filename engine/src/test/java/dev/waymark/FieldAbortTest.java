package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.ClosedException;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The client of a 203,000-token prefill goes away after 161,792 tokens, with a block being written:
 * a 192nd of the size, a point at every boundary.
 */
class FieldAbortTest {
  private static final int BLOCK = 2_048;
  private static final int REACHED = 161_792;
  private static final Layout LAYOUT = FieldLayouts.sparseHybrid192(BLOCK);

  private final int[] prompt = new Random(3).ints(203_000, 0, 150_000).toArray();

  @TempDir Path dir;

  /** Holds one thread up at a place in the engine, until it is let go. */
  private static final class Gate {
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);
    private volatile Thread held;
    private volatile String place;

    void hold(Thread thread, String label) {
      place = label;
      held = thread;
    }

    void reached(String label) {
      if (Thread.currentThread() == held && label.equals(place)) {
        held = null;
        arrived.countDown();
        WrongCallsTest.awaitUninterruptibly(open);
      }
    }
  }

  private SnapshotStore open(Gate gate) {
    return SnapshotStore.open(
        RealDirectory.openForWriting(dir.resolve("store"), true),
        StoreOptions.builder().quota("4GiB").build(),
        System::currentTimeMillis,
        gate::reached);
  }

  @ParameterizedTest
  @CsvSource({
    "DISCARD, space claimed",
    "DISCARD, payload copied",
    "DISCARD, header written",
    "KEEP, space claimed",
    "KEEP, payload copied",
    "KEEP, header written"
  })
  void withAWriteUnderWay(AbortMode mode, String place) throws InterruptedException {
    Gate gate = new Gate();
    try (SnapshotStore store = open(gate)) {
      Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
      PrefillSession session =
          ns.prefill(
              ns.match(prompt),
              PrefillPlan.tokens(prompt.length).policy(RestorePolicy.EVERY).onAbort(mode));
      FieldLayouts.appendZeros(session, LAYOUT, prompt, REACHED);
      assertThat(session.tokens()).isEqualTo(REACHED);

      AtomicReference<Throwable> late = new AtomicReference<>();
      Thread writer =
          new Thread(
              () -> {
                try {
                  FieldLayouts.appendZeros(session, LAYOUT, prompt, prompt.length);
                } catch (Throwable e) {
                  late.set(e);
                }
              },
              "writer");
      gate.hold(writer, place);
      writer.start();
      gate.arrived.await();
      Thread aborter = new Thread(session::abort, "aborter");
      aborter.start();
      while (aborter.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      gate.open.countDown();
      writer.join();
      aborter.join();

      assertThat(late.get()).isInstanceOf(ClosedException.class);
      check(store, mode);
      // What was under way has ended, and whatever is done now brings nothing of it back.
      store.flush();
      store.runOnce();
      check(store, mode);
    }
    try (SnapshotStore store = open(new Gate())) {
      assertThat(store.recovery().cleanlyClosed()).isTrue();
      check(store, mode);
      if (mode == AbortMode.DISCARD) {
        assertThat(store.stats().segments()).isZero();
      }
    }
  }

  private void check(SnapshotStore store, AbortMode mode) {
    ForestChecker.check(store);
    StoreStats stats = store.stats();
    Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
    PrefixMatch match = ns.match(Prompt.ofTokens(prompt), prompt.length);
    if (mode == AbortMode.DISCARD) {
      assertThat(match.storedTokens()).isZero();
      assertThat(stats.boundaries()).isZero();
      assertThat(stats.points()).isZero();
      assertThat(stats.liveBytes()).isZero();
      assertThat(stats.deadBytes()).isZero();
      return;
    }
    assertThat(match.storedTokens()).isEqualTo(REACHED);
    assertThat(match.restorableTokens()).isEqualTo(REACHED);
    assertThat(stats.boundaries()).isEqualTo(REACHED / BLOCK).isEqualTo(79);
    assertThat(stats.points()).isEqualTo(79);
    long payload =
        LAYOUT.rowBytes(0, REACHED) + 79 * LAYOUT.fixedBytes() + LAYOUT.windowBytes(0, REACHED);
    assertThat(stats.liveBytes()).isBetween(payload, payload + payload / 100);
    try (RestoredState state = match.restore()) {
      state.read(FieldLayouts.zeros(LAYOUT, 0, REACHED));
      assertThat(state.finish().tokens()).isEqualTo(REACHED);
    }
    assertThat(Arrays.stream(match.points()).allMatch(at -> at % BLOCK == 0)).isTrue();
  }
}
