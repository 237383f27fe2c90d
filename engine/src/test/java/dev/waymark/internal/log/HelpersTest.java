package dev.waymark.internal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits for whom. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HelpersTest {
  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void whoHasBegunIsWaitedFor() {
    Thread caller = Thread.currentThread();
    CountDownLatch begun = new CountDownLatch(1);
    AtomicBoolean over = new AtomicBoolean();
    AtomicBoolean ended = new AtomicBoolean();
    try (Helpers helpers = Helpers.threads("helper", 1)) {
      helpers.run(
          1,
          () -> {
            begun.countDown();
            // Until the caller has done its own part, and waits.
            while (!over.get() || caller.getState() != Thread.State.WAITING) {
              Thread.onSpinWait();
            }
            ended.set(true);
          },
          () -> {
            await(begun);
            over.set(true);
          });
      assertThat(ended).isTrue();
    }
  }

  @Test
  void whoHasNotBegunIsNotWaitedForAndDoesNothingLater() {
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    AtomicInteger helped = new AtomicInteger();
    AtomicInteger own = new AtomicInteger();
    try (Helpers helpers = Helpers.threads("helper", 1)) {
      helpers
          .executor()
          .execute(
              () -> {
                busy.countDown();
                await(over);
              });
      await(busy);
      helpers.run(1, helped::incrementAndGet, own::incrementAndGet);
      assertThat(own).hasValue(1);
      over.countDown();
      CountDownLatch after = new CountDownLatch(1);
      helpers.executor().execute(after::countDown);
      await(after);
      assertThat(helped).hasValue(0);
    }
  }

  @Test
  void whatFailsIsThrownOnceAllHaveEnded() {
    CountDownLatch begun = new CountDownLatch(1);
    Runnable fails =
        () -> {
          begun.countDown();
          throw new IllegalStateException("theirs");
        };
    try (Helpers helpers = Helpers.threads("helper", 1)) {
      assertThatThrownBy(() -> helpers.run(1, fails, () -> await(begun))).hasMessage("theirs");
      assertThatThrownBy(
              () ->
                  helpers.run(
                      1,
                      fails,
                      () -> {
                        throw new IllegalStateException("own");
                      }))
          .hasMessage("own");
    }
  }

  @Test
  void sentHomeOrNeverThereTheCallerDoesAllOfIt() {
    AtomicInteger own = new AtomicInteger();
    Helpers helpers = Helpers.threads("helper", 2);
    helpers.close();
    helpers.run(2, own::incrementAndGet, own::incrementAndGet);
    Helpers.NONE.run(2, own::incrementAndGet, own::incrementAndGet);
    Helpers.threads("helper", 0).run(2, own::incrementAndGet, own::incrementAndGet);
    assertThat(own).hasValue(3);
  }
}
