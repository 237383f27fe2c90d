package dev.waymark.faults;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;

/**
 * A process that is going to be killed: works on a store, and writes down what it asks and what is
 * acknowledged, each event in one write to a file outside the store.
 *
 * <p>Warms up on a scratch store, says that it is ready, and starts once it is told the store, the
 * epoch, the seed and the journal.
 */
public final class KillChild {
  private KillChild() {}

  /** Arguments: a scratch directory. */
  public static void main(String[] arguments) throws Exception {
    warmUp(Path.of(arguments[0]));
    System.out.println("ready");
    byte[] line = new byte[4096];
    int length = System.in.read(line);
    if (length <= 0) {
      return;
    }
    String[] task = new String(line, 0, length, StandardCharsets.UTF_8).trim().split(" ");
    Path directory = Path.of(task[0]);
    Samples samples = new Samples(Long.parseLong(task[1]));
    Random random = new Random(Long.parseLong(task[2]));
    FileOutputStream journal = new FileOutputStream(task[3]);
    Oracle oracle = new Oracle(event -> write(journal, event + "\n"));
    SnapshotStore store = SnapshotStore.open(directory, options(random));
    Thread[] threads = new Thread[2];
    for (int i = 0; i < threads.length; i++) {
      Workload workload = new Workload(store, samples, oracle, random.nextLong(), () -> false);
      threads[i] =
          new Thread(
              () -> {
                try {
                  workload.run();
                } catch (Throwable e) {
                  write(journal, "failed " + e + "\n");
                  e.printStackTrace();
                }
              });
      threads[i].start();
    }
    System.out.println("working");
    for (Thread thread : threads) {
      thread.join();
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
