package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.error.QuotaException;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A namespace's own quota holds after every call, in whole pages of its records. */
class NamespaceQuotaTest {
  private static final long QUOTA = 2L << 20;
  private static final int BLOCK = SampleModel.BLOCK;

  private static long pages(StoreEngine engine, Namespace ns) {
    return engine.publisher.read(
        () -> {
          long[] bytes = new long[1];
          engine.forest.forEachBoundary(
              node -> {
                if (engine.forest.namespaceOf(node).id() == ns.state().id()) {
                  for (RecordKind kind : RecordKind.values()) {
                    engine
                        .forest
                        .records(node, kind)
                        .forEach(at -> bytes[0] += Alignment.toPage(at.lengthBytes()));
                  }
                }
              });
          assertThat(ns.state().recordPageBytes()).isEqualTo(bytes[0]);
          return bytes[0];
        });
  }

  /** Records of a few bytes, which occupy a page, and records of several pages. */
  @ParameterizedTest
  @ValueSource(ints = {8, 96, 1_024})
  void whatManyPrefillsAppendAtOnceStaysWithinIt(int rowBytes) {
    SampleModel model = new SampleModel("one", rowBytes, 8, 64);
    long seed = rowBytes;
    Random random = new Random(seed);
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.store().namespace(model.identity, model.layout);
      ns.setQuota(QUOTA);
      List<PrefillSession> open = new ArrayList<>();
      List<int[]> prompts = new ArrayList<>();
      int refused = 0;
      for (int step = 0; step < 1_500; step++) {
        try {
          if (open.isEmpty() || random.nextInt(12) == 0) {
            int[] tokens = QuotaTest.prompt(step, 100 * BLOCK);
            // Far less than is appended: most of it was never reserved.
            open.add(
                ns.prefill(
                    ns.match(tokens), PrefillPlan.tokens(BLOCK + 1).policy(RestorePolicy.EVERY)));
            prompts.add(tokens);
          } else {
            int i = random.nextInt(open.size());
            PrefillSession session = open.get(i);
            int from = session.tokens();
            if (from == 100 * BLOCK || random.nextInt(40) == 0) {
              open.remove(i);
              prompts.remove(i);
              session.close();
            } else {
              int[] block = Arrays.copyOfRange(prompts.get(i), from, from + BLOCK);
              session.append(block, model.views(prompts.get(i), from + BLOCK));
            }
          }
        } catch (QuotaException e) {
          refused++;
          open.remove(0).close();
          prompts.remove(0);
        }
        assertThat(pages(test.store().engine(), ns))
            .as("seed %d, step %d", seed, step)
            .isLessThanOrEqualTo(QUOTA);
      }
      assertThat(refused + test.store().stats().evictedBoundaries()).isPositive();
      open.forEach(PrefillSession::close);
    }
  }

  @Test
  void whatThreadsReserveAtOnceStaysWithinIt() throws InterruptedException {
    SampleModel model = new SampleModel("one", 1_024, 96, 8_192);
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.store().namespace(model.identity, model.layout);
      ns.setQuota(QUOTA);
      CountDownLatch start = new CountDownLatch(1);
      AtomicReference<Throwable> failure = new AtomicReference<>();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        int seed = t * 1_000;
        Thread thread =
            new Thread(
                () -> {
                  try {
                    start.await();
                    for (int i = 0; i < 15; i++) {
                      fill(test, model, ns, QuotaTest.prompt(seed + i, 30 * BLOCK + 1));
                    }
                  } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                  }
                });
        thread.start();
        threads.add(thread);
      }
      start.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failure.get()).isNull();
    }
  }

  private static void fill(TestStore test, SampleModel model, Namespace ns, int[] tokens) {
    try (PrefillSession session = ns.prefill(ns.match(tokens), PrefillPlan.tokens(tokens.length))) {
      for (int to = BLOCK; to < tokens.length; to += BLOCK) {
        session.append(Arrays.copyOfRange(tokens, to - BLOCK, to), model.views(tokens, to));
        assertThat(pages(test.store().engine(), ns)).isLessThanOrEqualTo(QUOTA);
      }
      session.promptComplete();
    } catch (QuotaException e) {
      // Others have it.
      assertThat(pages(test.store().engine(), ns)).isLessThanOrEqualTo(QUOTA);
    }
  }

  @Test
  void aLimitThatCannotBeMetIsNotInForceNorThatOfADeletedNamespace() {
    SampleModel model = new SampleModel("one", 4_096, 0, 0);
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.store().namespace(model.identity, model.layout);
      int[] tokens = QuotaTest.prompt(1, 40 * BLOCK + 1);
      model.store(ns, tokens, PrefillPlan.tokens(tokens.length));
      ns.keep(ns.match(tokens), "kept");
      for (int round = 0; round < 2; round++) {
        assertThatThrownBy(() -> ns.setQuota(QUOTA)).isInstanceOf(QuotaPinnedException.class);
        int[] more = QuotaTest.prompt(2 + round, 4 * BLOCK + 1);
        model.store(ns, more, PrefillPlan.tokens(more.length));
        assertThat(ns.match(more).storedTokens()).isEqualTo(4 * BLOCK);
        // The second time there is a limit to go back to.
        ns.setQuota(48L << 20);
      }
      assertThatThrownBy(() -> test.store().setQuota(24L << 20))
          .isInstanceOf(InvalidSettingException.class);
      test.store().maintenance().deleteNamespace(ns, false);
      assertThatThrownBy(() -> ns.setQuota(48L << 20)).isInstanceOf(InvalidArgumentException.class);
      test.store().setQuota(24L << 20);
    }
  }
}
