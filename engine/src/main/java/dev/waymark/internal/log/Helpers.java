package dev.waymark.internal.log;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that lend a hand. Whoever asks them does the work itself and waits only for those who
 * have begun: where all are busy elsewhere it does all of it, and who comes too late does nothing.
 */
public final class Helpers implements AutoCloseable {
  /** Nobody: all work is done by whoever asks. */
  public static final Helpers NONE = new Helpers(null, 0);

  private static final long IDLE_SECONDS = 10;

  private final ThreadPoolExecutor pool;
  private final int most;

  private Helpers(ThreadPoolExecutor pool, int most) {
    this.pool = pool;
    this.most = most;
  }

  /** So many threads, made as they are needed, and ended when they were idle for some seconds. */
  public static Helpers threads(String name, int most) {
    if (most == 0) {
      return NONE;
    }
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return new Helpers(pool, most);
  }

  /** What the threads are taken from. */
  public Executor executor() {
    return pool;
  }

  /**
   * Does a piece of work together. Returns once the caller's own part has ended and nobody else is
   * at it any more; the caller's part has to leave nothing over that no helper has taken.
   *
   * @param helpers how many are asked, at most
   * @param help what each of them does
   * @param own what the caller does
   * @throws RuntimeException what the caller's part threw, or else the first of theirs; an error
   *     likewise
   */
  public void run(int helpers, Runnable help, Runnable own) {
    Work work = new Work(help);
    for (int i = 0; i < Math.min(helpers, most); i++) {
      try {
        pool.execute(work);
      } catch (RejectedExecutionException e) {
        // They were sent home: the caller finds out by itself how far it still gets.
        break;
      }
    }
    try {
      own.run();
    } catch (Throwable e) {
      work.failed(e, true);
    }
    work.end();
  }

  /** Asks nobody any more. What has begun goes on to its end. */
  @Override
  public void close() {
    if (pool != null) {
      pool.shutdown();
    }
  }

  /** One piece of work; runs once for each helper. */
  private static final class Work implements Runnable {
    private Runnable help;
    private int busy;
    private Throwable failure;

    Work(Runnable help) {
      this.help = help;
    }

    @Override
    public void run() {
      Runnable mine;
      synchronized (this) {
        mine = help;
        if (mine == null) {
          return;
        }
        busy++;
      }
      try {
        mine.run();
      } catch (Throwable e) {
        failed(e, false);
      } finally {
        synchronized (this) {
          busy--;
          notifyAll();
        }
      }
    }

    synchronized void failed(Throwable e, boolean first) {
      failure = failure == null || first ? e : failure;
    }

    synchronized void end() {
      help = null;
      boolean interrupted = false;
      while (busy > 0) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      if (failure instanceof RuntimeException e) {
        throw e;
      }
      if (failure instanceof Error e) {
        throw e;
      }
    }
  }
}
