package dev.waymark.faults;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreBridge;
import dev.waymark.StoreOptions;
import dev.waymark.error.DiskFullException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/**
 * Fills a small file system through a store whose quota is larger, again and again: the failure is
 * a full disk and says so, everything stored can be read, and once there is space the open store
 * goes on.
 *
 * <p>Arguments: a directory on the file system, rounds, a seed.
 */
public final class FullDisk {
  private static final long QUOTA_BYTES = 1L << 30;

  /** Less than what the samples need. */
  private static final long LEFT_BYTES = 16L << 20;

  private static final long FREED_BYTES = 8L << 20;

  private FullDisk() {}

  /** Runs; exits with 1 if anything was lost, wrong, or ended otherwise than by a full disk. */
  public static void main(String[] arguments) throws Exception {
    Path root = Path.of(arguments[0]);
    int rounds = Integer.parseInt(arguments[1]);
    long seed = Long.parseLong(arguments[2]);
    Random random = new Random(seed);
    int full = 0;
    long restores = 0;
    boolean good = true;
    for (int round = 0; round < rounds; round++) {
      Samples samples = new Samples(seed * 1_000 + round);
      Oracle oracle = new Oracle(event -> {});
      Path directory = root.resolve("store");
      Path ballast = root.resolve("ballast");
      long ballastBytes = root.toFile().getUsableSpace() - LEFT_BYTES;
      write(ballast, ballastBytes);
      boolean thread = round % 2 == 0;
      Checker checker = new Checker();
      try (SnapshotStore store = open(directory, thread)) {
        full += fill(store, samples, oracle, random.nextLong());
        checker.look(store, samples, oracle, random);
        cut(ballast, ballastBytes - FREED_BYTES);
        store.flush();
        checker.use(store, samples, oracle, random);
        full += fill(store, samples, oracle, random.nextLong());
        checker.look(store, samples, oracle, random);
        if (round % 3 == 0) {
          StoreBridge.abandon(store);
        }
      } catch (DiskFullException e) {
        full++; // closing writes too
      }
      FileSystemHelper.expectNothingOpen(directory);
      // What a full disk leaves has to open on a full disk.
      try (SnapshotStore store = open(directory, thread)) {
        checker.check(store, samples, oracle, random);
      }
      restores += checker.restores();
      if (!checker.isGood()) {
        good = false;
        System.out.println("round " + round + ", seed " + seed + ":\n" + checker.findings());
      }
      PowerLoss.remove(directory);
      Files.delete(ballast);
    }
    System.out.printf(
        "full disks: %d in %d rounds, %d restores compared, %s, seed %d%n",
        full, rounds, restores, good ? "nothing lost or wrong" : "FAILED", seed);
    System.exit(good ? 0 : 1);
  }

  private static SnapshotStore open(Path directory, boolean thread) {
    return SnapshotStore.open(
        directory,
        StoreOptions.builder()
            .quota(QUOTA_BYTES)
            .group(256L << 10, 5)
            .maxInFlight(4L << 20)
            .backgroundThread(thread)
            .build());
  }

  /** Works until the disk is full; any other end is one too many. */
  private static int fill(SnapshotStore store, Samples samples, Oracle oracle, long seed) {
    Workload workload = new Workload(store, samples, oracle, seed, () -> false);
    try {
      while (true) {
        workload.step();
      }
    } catch (DiskFullException e) {
      return 1;
    }
  }

  private static void write(Path ballast, long bytes) throws Exception {
    try (FileChannel channel =
        FileChannel.open(ballast, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 20);
      while (channel.position() < bytes) {
        channel.write(zeros.clear());
      }
      channel.force(true);
    }
  }

  private static void cut(Path ballast, long bytes) throws Exception {
    try (FileChannel channel = FileChannel.open(ballast, StandardOpenOption.WRITE)) {
      channel.truncate(bytes);
      channel.force(true);
    }
  }
}
