package dev.waymark.faults;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/**
 * A process that is going to be killed: works on stores, each with threads of its own, and writes
 * down what it asks of each and what is acknowledged, each event in one write to a file outside the
 * store.
 *
 * <p>Warms up on a scratch store, says that it is ready, and starts once it is told of each store
 * where it is, the epoch, the seed and the journal. Says that it is working once all are open.
 */
public final class KillChild {
  private static final int WORDS = 4;

  private KillChild() {}

  /** Arguments: a scratch directory. */
  public static void main(String[] arguments) throws Exception {
    warmUp(Path.of(arguments[0]));
    System.out.println("ready");
    byte[] line = new byte[1 << 16];
    int length = System.in.read(line);
    if (length <= 0) {
      return;
    }
    String[] task = new String(line, 0, length, StandardCharsets.UTF_8).trim().split(" ");
    CountDownLatch opened = new CountDownLatch(task.length / WORDS);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < task.length; i += WORDS) {
      String[] one = Arrays.copyOfRange(task, i, i + WORDS);
      threads.add(new Thread(() -> work(one, opened)));
    }
    threads.forEach(Thread::start);
    opened.await();
    System.out.println("working");
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void work(String[] task, CountDownLatch opened) {
    FileOutputStream journal;
    try {
      journal = new FileOutputStream(task[3]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    noting(
        journal,
        () -> {
          Samples samples = new Samples(Long.parseLong(task[1]));
          Random random = new Random(Long.parseLong(task[2]));
          Oracle oracle = new Oracle(event -> write(journal, event + "\n"));
          SnapshotStore store = SnapshotStore.open(Path.of(task[0]), options(random));
          for (int i = 0; i < 2; i++) {
            Workload workload =
                new Workload(store, samples, oracle, random.nextLong(), () -> false);
            new Thread(() -> noting(journal, workload::run)).start();
          }
        });
    opened.countDown();
  }

  private static void noting(FileOutputStream journal, Runnable action) {
    try {
      action.run();
    } catch (Throwable e) {
      write(journal, "failed " + e + "\n");
      e.printStackTrace();
    }
  }

  static StoreOptions options(Random random) {
    return StoreOptions.builder()
        .quota(PowerLoss.QUOTA_BYTES)
        .group(256L << 10, 1 + random.nextInt(20))
        .maxInFlight(2L << 20)
        .build();
  }

  /** Loads the classes, which takes most of a short life. */
  private static void warmUp(Path scratch) {
    Samples samples = new Samples(0);
    try (SnapshotStore store = SnapshotStore.open(scratch, options(new Random(0)))) {
      Workload workload = new Workload(store, samples, new Oracle(event -> {}), 1, () -> false);
      for (int i = 0; i < 5; i++) {
        workload.step();
      }
    }
  }

  private static void write(FileOutputStream journal, String text) {
    try {
      journal.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
