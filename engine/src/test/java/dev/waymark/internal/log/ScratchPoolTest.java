package dev.waymark.internal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.ClosedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Nobody waits for scratch memory that will not come. */
class ScratchPoolTest {
  private static CompletableFuture<Scratch> waiting(Scratch.Pool pool) {
    CompletableFuture<Scratch> taken = new CompletableFuture<>();
    Thread taker =
        new Thread(
            () -> {
              try {
                taken.complete(pool.take());
              } catch (RuntimeException e) {
                taken.completeExceptionally(e);
              }
            });
    taker.setDaemon(true);
    taker.start();
    while (taker.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    return taken;
  }

  @Test
  void whoWaitsGetsWhatIsGivenBack() throws Exception {
    try (Scratch.Pool pool = new Scratch.Pool(1)) {
      Scratch only = pool.take();
      assertThat(pool.tryTake()).isNull();
      CompletableFuture<Scratch> next = waiting(pool);
      only.close();
      try (Scratch given = next.get(1, TimeUnit.MINUTES)) {
        assertThat(given).isSameAs(only);
      }
    }
  }

  @Test
  void closingEndsTheWaiting() {
    Scratch.Pool pool = new Scratch.Pool(1);
    Scratch only = pool.take();
    CompletableFuture<Scratch> never = waiting(pool);
    pool.close();
    assertThatThrownBy(() -> never.get(1, TimeUnit.MINUTES))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(ClosedException.class);
    assertThatThrownBy(pool::take).isInstanceOf(ClosedException.class);
    assertThatThrownBy(pool::tryTake).isInstanceOf(ClosedException.class);
    only.close();
  }
}
