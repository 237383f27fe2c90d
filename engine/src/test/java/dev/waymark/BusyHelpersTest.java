package dev.waymark;

import dev.waymark.internal.log.Scratch;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A restore needs nobody's help: it waits for none who has not begun. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BusyHelpersTest {
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.fixed("s", DType.F32, 2, 16));

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(81, 0, 1_000).toArray();

  private PrefixMatch stored(TestStore test) {
    Namespace ns = test.namespace(LAYOUT);
    PrefillPlan plan = PrefillPlan.tokens(prompt.length).policy(RestorePolicy.EVERY);
    try (PrefillSession session = ns.prefill(ns.match(prompt), plan)) {
      for (int to = 4; to <= 80; to += 4) {
        session.append(Arrays.copyOfRange(prompt, to - 4, to), model.plainViews(prompt, to));
      }
      session.promptComplete();
    }
    return ns.match(Prompt.ofTokens(prompt), 80);
  }

  @Test
  void allOfThemAreBusyElsewhere() throws Exception {
    try (TestStore test = new TestStore(TestStore.options("64MiB").restoreThreads(4).build())) {
      PrefixMatch match = stored(test);
      CountDownLatch busy = new CountDownLatch(3);
      CountDownLatch over = new CountDownLatch(1);
      for (int i = 0; i < 3; i++) {
        test.store()
            .engine()
            .restorers
            .executor()
            .execute(
                () -> {
                  busy.countDown();
                  await(over);
                });
      }
      busy.await();
      try {
        for (int at : match.points()) {
          model.assertRestores(new Random(at), match, at, prompt);
        }
      } finally {
        over.countDown();
      }
      // Those who come too late find nothing to do.
      model.assertRestores(new Random(1), match, 80, prompt);
    }
  }

  @Test
  void thereIsMemoryForOneOnly() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").restoreThreads(4).build())) {
      PrefixMatch match = stored(test);
      List<Scratch> taken = new ArrayList<>();
      int all = 4 + Runtime.getRuntime().availableProcessors() + 2;
      for (int i = 1; i < all; i++) {
        taken.add(test.store().engine().scratches.take());
      }
      try {
        for (int at : match.points()) {
          model.assertRestores(new Random(at), match, at, prompt);
        }
      } finally {
        taken.forEach(Scratch::close);
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
