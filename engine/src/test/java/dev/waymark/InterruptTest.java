package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.AbortMode;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Interrupting the threads that use a store harms neither it nor what they do. */
class InterruptTest {
  private static final int INTERRUPTS = 1_000;
  private static final int PROMPTS = 400;
  private static final int BLOCK = 8;
  private static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.rows("k", DType.BF16, 1, 4, -1, 64),
          TensorSpec.window("w", DType.BF16, 20, 2, 4, -1, 64),
          TensorSpec.fixed("s", DType.F32, 8, 256));

  private final FakeModel model = new FakeModel(LAYOUT);

  @TempDir Path dir;

  private SnapshotStore open() {
    return SnapshotStore.open(
        dir.resolve("store"), StoreOptions.builder().quota("256MiB").restoreThreads(2).build());
  }

  private int[] prompt(int number) {
    return new Random(number).ints(6 * BLOCK + 1, 0, 1_000).toArray();
  }

  /** A thread that is interrupted again once it has seen that it was. */
  private final class Worker implements Runnable {
    final int number;
    final SnapshotStore store;
    final AtomicInteger issued = new AtomicInteger();
    final AtomicInteger seen = new AtomicInteger();
    final AtomicReference<Throwable> failure = new AtomicReference<>();
    final Thread thread = new Thread(this);

    Worker(int number, SnapshotStore store) {
      this.number = number;
      this.store = store;
    }

    @Override
    public void run() {
      try {
        Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
        Random random = new Random(number);
        while (seen.get() < INTERRUPTS / 2) {
          appendOrRestore(ns, random);
        }
      } catch (Throwable e) {
        failure.set(e);
        seen.set(INTERRUPTS);
      }
    }

    private void appendOrRestore(Namespace ns, Random random) {
      int[] prompt = prompt(2 * random.nextInt(PROMPTS / 2) + number);
      PrefixMatch match = ns.match(prompt);
      if (match.restorableTokens() > 0) {
        model.assertRestores(random, match, match.restorableTokens(), prompt);
        look();
      }
      // Mostly without a force, so that most of the time goes into reads and writes.
      AbortMode mode = random.nextInt(12) == 0 ? AbortMode.DISCARD : AbortMode.KEEP;
      Durability durability = random.nextInt(12) == 0 ? Durability.COMMIT : Durability.NONE;
      PrefillPlan plan =
          PrefillPlan.tokens(prompt.length)
              .policy(RestorePolicy.EVERY)
              .onAbort(mode)
              .durability(durability);
      try (PrefillSession session = ns.prefill(match, plan)) {
        int to = random.nextInt(prompt.length);
        while (session.tokens() + BLOCK <= to) {
          int end = session.tokens() + BLOCK;
          session.append(
              Arrays.copyOfRange(prompt, end - BLOCK, end), model.plainViews(prompt, end));
          look();
        }
      }
      look();
    }

    /** An interrupt that came during the calls before is still to be seen. */
    private void look() {
      int now = issued.get();
      if (now > seen.get()) {
        assertThat(Thread.interrupted()).as("the interrupt is still to be seen").isTrue();
        seen.set(now);
      }
    }
  }

  @Test
  void aThousandInterruptsOfAppendsAndRestores() throws InterruptedException {
    try (SnapshotStore store = open()) {
      Worker[] workers = {new Worker(0, store), new Worker(1, store)};
      for (Worker worker : workers) {
        worker.thread.start();
      }
      boolean busy = true;
      while (busy) {
        busy = false;
        for (Worker worker : workers) {
          boolean more = worker.seen.get() < INTERRUPTS / 2;
          busy |= more;
          if (more && worker.seen.get() == worker.issued.get()) {
            worker.thread.interrupt();
            worker.issued.incrementAndGet();
          }
        }
        Thread.yield();
      }
      for (Worker worker : workers) {
        worker.thread.join();
        if (worker.failure.get() != null) {
          throw new AssertionError(worker.failure.get());
        }
      }
      ForestChecker.check(store);
      checkAll(store);
    }
    try (SnapshotStore store = open()) {
      assertThat(store.recovery().cleanlyClosed()).isTrue();
      ForestChecker.check(store);
      checkAll(store);
    }
  }

  private void checkAll(SnapshotStore store) {
    Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
    for (int number = 0; number < PROMPTS; number++) {
      int[] prompt = prompt(number);
      PrefixMatch match = ns.match(prompt);
      for (int at : match.points()) {
        model.assertRestores(new Random(at), match, at, prompt);
      }
    }
  }

  @Test
  void aThreadThatIsInterruptedAllTheWhileOpensUsesAndCloses() {
    int[] prompt = prompt(3);
    for (int round = 0; round < 2; round++) {
      Thread.currentThread().interrupt();
      try (SnapshotStore store = open()) {
        Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
        PrefixMatch match = ns.match(prompt);
        try (PrefillSession session =
            ns.prefill(match, PrefillPlan.tokens(prompt.length).durability(Durability.COMMIT))) {
          while (session.tokens() + BLOCK < prompt.length) {
            int end = session.tokens() + BLOCK;
            session.append(
                Arrays.copyOfRange(prompt, end - BLOCK, end), model.plainViews(prompt, end));
          }
          session.promptComplete();
        }
        PrefixMatch all = ns.match(prompt);
        assertThat(all.restorableTokens()).isEqualTo(48);
        model.assertRestores(new Random(1), all, 48, prompt);
        store.flush();
        store.runOnce();
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
    }
  }
}
