package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.QuotaException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.layout.AbortMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Eight threads at the quota at once, with all that may get into each other's way: prefills in two
 * namespaces of which one has a quota of its own, restores that stay open, chains that are kept and
 * released, quotas that are lowered and raised, deletes, and compactions that are cancelled.
 */
class QuotaRacesTest {
  private static final long MIB = 1L << 20;
  private static final long MOST = 32 * MIB;
  private static final long NAMESPACE_MOST = 6 * MIB;
  private static final int THREADS = 8;
  private static final int CALLS = Integer.getInteger("waymark.races.calls", 120);
  private static final long SEED = Long.getLong("waymark.seed", 11);

  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);
  private final SampleModel limited = new SampleModel("two", 1_984, 0, 0);
  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger restored = new AtomicInteger();

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void nothingIsLostAndNothingExceeds(boolean punching) throws Exception {
    try (TestStore test =
        new TestStore(
            TestStore.options("32MiB")
                .punchHoles(punching)
                .compactionRate(Long.MAX_VALUE)
                .build())) {
      SnapshotStore store = test.store();
      Namespace second = store.namespace(limited.identity, limited.layout);
      second.setQuota(NAMESPACE_MOST);
      CyclicBarrier start = new CyclicBarrier(THREADS);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        SplittableRandom random = new SplittableRandom(SEED * THREADS + t);
        Thread thread =
            new Thread(
                () -> {
                  try {
                    start.await();
                    for (int i = 0; i < CALLS && failures.isEmpty(); i++) {
                      step(store, random);
                      requireWithin(store);
                    }
                  } catch (Exception | Error e) {
                    failures.add(e);
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failures).as("seed %d", SEED).isEmpty();
      assertThat(restored.get()).isPositive();
      assertThat(refused.get()).isLessThan(THREADS * CALLS / 2);
      store.setQuota(16 * MIB);
      assertThat(test.disk.another().allocatedBytes()).isLessThanOrEqualTo(16 * MIB);
      ForestChecker.check(store);
    }
  }

  private void requireWithin(SnapshotStore store) {
    StoreStats stats = store.stats();
    if (stats.allocatedBytes() > MOST) {
      failures.add(new AssertionError("above the quota: " + stats));
    }
    SpaceKeeper space = store.engine().space;
    if (space.gate().reservedBytes() < 0 || space.gate().claimedBytes() < 0) {
      failures.add(new AssertionError("more came back than was taken"));
    }
    Namespace second = store.namespace(limited.identity, limited.layout);
    long pages = store.engine().publisher.read(second.state()::recordPageBytes);
    if (pages > NAMESPACE_MOST) {
      failures.add(new AssertionError("the namespace has " + pages));
    }
  }

  private void step(SnapshotStore store, SplittableRandom random) {
    SampleModel of = random.nextInt(3) == 0 ? limited : model;
    Namespace ns = store.namespace(of.identity, of.layout);
    int[] tokens = QuotaTest.prompt(random.nextInt(60), 16 * (10 + random.nextInt(20)) + 1);
    try {
      switch (random.nextInt(16)) {
        case 0, 1, 2, 3, 4, 5, 6 -> prefill(of, ns, tokens, random);
        case 7, 8, 9, 10 -> restore(store, of, ns, tokens, random);
        case 11 -> keepOrRelease(ns, tokens, random);
        case 12 -> store.setQuota((16 + random.nextInt(17)) * MIB);
        case 13 -> delete(store, ns, tokens);
        case 14 -> compact(store, random);
        default -> store.runOnce();
      }
    } catch (QuotaException e) {
      refused.incrementAndGet();
    } catch (StaleMatchException e) {
      // It went between two calls.
      return;
    }
  }

  private static void prefill(SampleModel of, Namespace ns, int[] tokens, SplittableRandom random) {
    PrefillPlan plan =
        PrefillPlan.tokens(tokens.length)
            .onAbort(random.nextBoolean() ? AbortMode.KEEP : AbortMode.DISCARD);
    try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
      boolean aborts = random.nextInt(5) == 0;
      of.appendRest(session, tokens, aborts ? tokens.length / 2 / 16 * 16 : tokens.length);
      if (!aborts) {
        session.promptComplete();
      }
    }
  }

  private void restore(
      SnapshotStore store, SampleModel of, Namespace ns, int[] tokens, SplittableRandom random) {
    PrefixMatch match = ns.match(tokens);
    if (match.restorableTokens() == 0) {
      return;
    }
    try (RestoredState state = match.restore()) {
      if (random.nextBoolean()) {
        // Others go on meanwhile, and so does this thread.
        lowerAndRaise(store);
      }
      of.check(state, tokens);
      restored.incrementAndGet();
    }
  }

  private void lowerAndRaise(SnapshotStore store) {
    try {
      store.setQuota(16 * MIB);
    } catch (QuotaException e) {
      refused.incrementAndGet();
    }
    store.setQuota(MOST);
  }

  private static void keepOrRelease(Namespace ns, int[] tokens, SplittableRandom random) {
    String name = "chain " + random.nextInt(3);
    PrefixMatch match = ns.match(tokens);
    if (match.restorableTokens() > 0 && random.nextBoolean()) {
      ns.keep(match, name);
    } else {
      ns.release(name);
    }
  }

  private static void delete(SnapshotStore store, Namespace ns, int[] tokens) {
    PrefixMatch match = ns.match(Arrays.copyOf(tokens, tokens.length));
    if (match.storedTokens() > 0) {
      store.maintenance().deleteChain(match, false);
    }
  }

  private static void compact(SnapshotStore store, SplittableRandom random) {
    int most = random.nextInt(40);
    store
        .maintenance()
        .compact(
            1,
            Long.MAX_VALUE,
            false,
            new CompactionReport.Progress() {
              private int asked;

              @Override
              public boolean emptied(int done, int of, long copiedBytes) {
                return true;
              }

              @Override
              public boolean isCancelled() {
                return ++asked > most;
              }
            });
  }
}
