package dev.waymark.tools.replay;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets work end in order when the process is told to go (Ctrl-C, SIGTERM): the work sees that it is
 * to stop, and the process waits for it, if not for ever.
 */
final class ShutdownGuard implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 20;

  private final CountDownLatch done = new CountDownLatch(1);
  private final Thread hook = new Thread(this::shutDown, "replay-shutdown");
  private volatile boolean shuttingDown;

  private ShutdownGuard() {}

  static ShutdownGuard install() {
    ShutdownGuard guard = new ShutdownGuard();
    Runtime.getRuntime().addShutdownHook(guard.hook);
    return guard;
  }

  /** Whether the process is to go. */
  boolean isShuttingDown() {
    return shuttingDown;
  }

  /** Says that the work is done. */
  @Override
  public void close() {
    done.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It runs already, and was waiting for this.
      return;
    }
  }

  private void shutDown() {
    shuttingDown = true;
    try {
      done.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
