package dev.waymark.jmh;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Work on threads of its own that start together. */
final class Lanes implements AutoCloseable {
  private final ExecutorService pool =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "lane");
            thread.setDaemon(true);
            return thread;
          });

  /** What a lane does. */
  interface Work {
    void run() throws Exception;
  }

  /** Returns when all are done. */
  void run(List<Work> all) throws Exception {
    CyclicBarrier start = new CyclicBarrier(all.size() + 1);
    List<Future<?>> results = new ArrayList<>();
    for (Work work : all) {
      results.add(
          pool.submit(
              () -> {
                start.await();
                work.run();
                return null;
              }));
    }
    start.await();
    for (Future<?> result : results) {
      result.get();
    }
  }

  @Override
  public void close() {
    pool.shutdown();
  }
}
