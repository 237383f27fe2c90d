package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.ClosedException;
import dev.waymark.error.ConcurrentUseException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.error.WaymarkException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many threads on one store, in a real directory. */
class ConcurrencyTest {
  private static final int THREADS = 6;
  private static final int BLOCK = 8;
  private static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.rows("k", DType.BF16, 1, 4, -1, 64),
          TensorSpec.rows("pool", DType.F16, 12, 1, -1, 32),
          TensorSpec.window("w", DType.BF16, 20, 2, 4, -1, 64),
          TensorSpec.fixed("s", DType.F32, 8, 256));

  private final FakeModel model = new FakeModel(LAYOUT);
  private final long seed = Long.getLong("seed", System.nanoTime());

  @TempDir Path dir;

  ConcurrencyTest() {
    System.out.println("ConcurrencyTest: replay the prompts with -Dseed=" + seed);
  }

  private SnapshotStore open() {
    return SnapshotStore.open(
        dir.resolve("store"), StoreOptions.builder().quota("256MiB").restoreThreads(2).build());
  }

  private Namespace namespace(SnapshotStore store) {
    return store.namespace(TestStore.identity("w"), LAYOUT, CodecPlan.PLANES);
  }

  private interface Task {
    void run(int thread) throws Exception;
  }

  private static void inParallel(int threads, Task task) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int thread = i;
        all.add(
            pool.submit(
                () -> {
                  task.run(thread);
                  return null;
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError("with -Dseed=" + seed(), e.getCause());
    } finally {
      pool.shutdown();
    }
  }

  private static String seed() {
    return System.getProperty("seed", "as printed");
  }

  private void append(PrefillSession session, int[] prompt, int to) {
    while (session.tokens() + BLOCK <= to) {
      int from = session.tokens();
      int end = from + BLOCK;
      session.append(Arrays.copyOfRange(prompt, from, end), model.plainViews(prompt, end));
    }
  }

  /** Twelve prompts that branch off from each other. */
  private List<int[]> prompts() {
    Random random = new Random(seed);
    List<int[]> prompts = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      int[] prompt = random.ints(60 + random.nextInt(80), 0, 1_000).toArray();
      if (i > 0) {
        int[] other = prompts.get(random.nextInt(i));
        int shared = random.nextInt(Math.min(other.length, prompt.length));
        System.arraycopy(other, 0, prompt, 0, shared);
      }
      prompts.add(prompt);
    }
    return prompts;
  }

  private void checkAll(Namespace ns, List<int[]> prompts, Random random) {
    for (int[] prompt : prompts) {
      PrefixMatch match = ns.match(prompt);
      for (int at : match.points()) {
        model.assertRestores(random, match, at, prompt);
      }
    }
  }

  @Test
  void prefillsThatSharePrefixesAndRestoresBesideThem() throws Exception {
    List<int[]> prompts = prompts();
    RestorePolicy[] policies = {
      RestorePolicy.EVERY, RestorePolicy.DEFAULT, RestorePolicy.LAST, RestorePolicy.stride(2)
    };
    try (SnapshotStore store = open()) {
      Namespace ns = namespace(store);
      inParallel(
          THREADS,
          thread -> {
            Random random = new Random(seed + thread);
            for (int round = 0; round < 25; round++) {
              int[] prompt = prompts.get(random.nextInt(prompts.size()));
              try {
                PrefixMatch match = ns.match(prompt);
                if (match.points().length > 0) {
                  int at = match.points()[random.nextInt(match.points().length)];
                  model.assertRestores(random, match, at, prompt);
                }
                PrefillPlan plan =
                    PrefillPlan.tokens(prompt.length)
                        .policy(policies[random.nextInt(4)])
                        .onAbort(random.nextBoolean() ? AbortMode.KEEP : AbortMode.DISCARD);
                try (PrefillSession session = ns.prefill(match, plan)) {
                  append(session, prompt, random.nextInt(prompt.length + 1));
                  if (random.nextBoolean()) {
                    append(session, prompt, prompt.length);
                    session.promptComplete();
                  }
                }
              } catch (StaleMatchException e) {
                // Another thread discarded or thinned it since the match: match again.
                continue;
              }
            }
          });
      ForestChecker.check(store);
      checkAll(ns, prompts, new Random(seed));
    }
    try (SnapshotStore store = open()) {
      ForestChecker.check(store);
      assertThat(store.recovery().cleanlyClosed()).isTrue();
      checkAll(namespace(store), prompts, new Random(seed));
    }
  }

  @Test
  void prefillsOfTheSamePromptInLockstep() throws Exception {
    int[] prompt = new Random(seed).ints(20 * BLOCK + 1, 0, 1_000).toArray();
    try (SnapshotStore store = open()) {
      Namespace ns = namespace(store);
      CyclicBarrier barrier = new CyclicBarrier(4);
      inParallel(
          4,
          thread -> {
            AbortMode mode = thread == 0 ? AbortMode.KEEP : AbortMode.DISCARD;
            PrefillPlan plan =
                PrefillPlan.tokens(prompt.length).policy(RestorePolicy.EVERY).onAbort(mode);
            PrefillSession session = ns.prefill(ns.match(new int[0]), plan);
            for (int to = BLOCK; to <= 20 * BLOCK; to += BLOCK) {
              barrier.await();
              append(session, prompt, to);
            }
            // One that is done first may not take back what another is still to reach.
            barrier.await();
            session.close();
          });
      ForestChecker.check(store);
      StoreStats stats = store.stats();
      assertThat(stats.boundaries()).isEqualTo(20);
      assertThat(stats.points()).isEqualTo(20);
      checkAll(ns, List.of(prompt), new Random(seed));
      // Each of the four wrote at most what is stored once; what lost is dead, and nothing else.
      assertThat(stats.appendedBytes()).isEqualTo(LAYOUT.rowBytes(0, 160) + points(20));
    }
  }

  private static long points(int blocks) {
    long bytes = 0;
    for (int i = 1; i <= blocks; i++) {
      bytes += LAYOUT.fixedBytes() + LAYOUT.windowBytes((i - 1L) * BLOCK, (long) i * BLOCK);
    }
    return bytes;
  }

  @Test
  void anAbortWhileAnAppendIsUnderWay() throws Exception {
    try (SnapshotStore store = open()) {
      Namespace ns = namespace(store);
      for (int round = 0; round < 10; round++) {
        int[] prompt = new Random(seed + round).ints(12 * BLOCK + 1, 0, 1_000).toArray();
        AbortMode mode = round % 2 == 0 ? AbortMode.DISCARD : AbortMode.KEEP;
        PrefillSession session =
            ns.prefill(
                ns.match(new int[0]),
                PrefillPlan.tokens(prompt.length)
                    .policy(RestorePolicy.EVERY)
                    .durability(Durability.NONE));
        CountDownLatch started = new CountDownLatch(1);
        AtomicInteger reached = new AtomicInteger();
        inParallel(
            2,
            thread -> {
              if (thread == 1) {
                started.await();
                session.abort(mode);
                return;
              }
              try {
                for (int to = BLOCK; to < prompt.length; to += BLOCK) {
                  append(session, prompt, to);
                  reached.set(to);
                  if (to == 2 * BLOCK) {
                    started.countDown();
                  }
                }
              } catch (ClosedException | ConcurrentUseException e) {
                started.countDown();
              }
            });
        int stored = ns.match(prompt).storedTokens();
        if (mode == AbortMode.KEEP) {
          assertThat(stored).isGreaterThanOrEqualTo(reached.get());
          PrefixMatch match = ns.match(prompt);
          model.assertRestores(new Random(seed), match, match.restorableTokens(), prompt);
        } else {
          assertThat(stored).isZero();
        }
        ForestChecker.check(store);
      }
    }
  }

  @Test
  void closingTheStoreUnderThreadsThatUseIt() throws Exception {
    List<int[]> prompts = prompts();
    for (int round = 0; round < 3; round++) {
      SnapshotStore store = open();
      Namespace ns = namespace(store);
      CountDownLatch busy = new CountDownLatch(THREADS);
      inParallel(
          THREADS + 1,
          thread -> {
            if (thread == THREADS) {
              busy.await();
              store.close();
              return;
            }
            Random random = new Random(seed + thread);
            try {
              for (int i = 0; ; i++) {
                int[] prompt = prompts.get(random.nextInt(prompts.size()));
                PrefixMatch match = ns.match(prompt);
                if (match.restorableTokens() > 0 && random.nextBoolean()) {
                  model.assertRestores(random, match, match.restorableTokens(), prompt);
                }
                try (PrefillSession session =
                    ns.prefill(match, PrefillPlan.tokens(prompt.length))) {
                  append(session, prompt, random.nextInt(prompt.length + 1));
                }
                if (i == 1) {
                  busy.countDown();
                }
                store.flush();
              }
            } catch (ClosedException e) {
              // As it should.
              return;
            } catch (WaymarkException e) {
              throw new AssertionError("a store that was closed says so", e);
            } finally {
              busy.countDown();
            }
          });
      try (SnapshotStore again = open()) {
        assertThat(again.recovery().cleanlyClosed()).isTrue();
        ForestChecker.check(again);
        checkAll(namespace(again), prompts, new Random(seed));
      }
    }
  }
}
