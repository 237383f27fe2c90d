package dev.waymark.faults;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStats;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What it costs to open a large store whose writer was killed: as much as reading its manifest,
 * whatever its segments hold.
 *
 * <p>{@code fill DIRECTORY BYTES} makes the store and ends without closing it; {@code open
 * DIRECTORY SCRATCH} opens it, best on a file system that was just mounted, so that every byte it
 * needs comes from the device and is counted.
 */
public final class OpenCost {
  private static final int BLOCK_TOKENS = 16;
  private static final int ROW_BYTES = 16 << 10;
  private static final int BLOCKS = 64;
  private static final TensorSpec ROWS = TensorSpec.rows("keys", DType.U8, 1, 1, -1, ROW_BYTES);
  private static final Layout LAYOUT = Layout.of(BLOCK_TOKENS, ROWS);

  /** Inodes, directory and group descriptors, and what the kernel reads ahead. */
  private static final long METADATA_BYTES = 2L << 20;

  private OpenCost() {}

  /** Runs; exits with 1 if opening reads more than a small multiple of the manifest. */
  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("fill")) {
      fill(Path.of(arguments[1]), Long.parseLong(arguments[2]));
      // No close, no shutdown: as good as killed.
      Runtime.getRuntime().halt(0);
    }
    // Classes and libraries come from the device too; a small store loads them all first.
    Path scratch = Path.of(arguments[2]);
    fill(scratch, 16L << 20).close();
    open(scratch, 1L << 30).close();
    System.exit(measure(Path.of(arguments[1])) ? 0 : 1);
  }

  private static boolean measure(Path directory) throws IOException {
    Path manifest = manifest(directory);
    long manifestBytes = Files.size(manifest);
    long files = count(directory);
    long readBefore = deviceBytesRead();
    long start = System.nanoTime();
    SnapshotStore store = open(directory, Files.getFileStore(directory).getTotalSpace());
    long openNanos = System.nanoTime() - start;
    long read = deviceBytesRead() - readBefore;
    StoreStats stats = store.stats();
    boolean whole = store.recovery().findings().isEmpty() && stats.boundaries() > 0;
    store.close();
    manifest = manifest(directory);
    start = System.nanoTime();
    Files.readAllBytes(manifest);
    long readNanos = System.nanoTime() - start;
    boolean good = whole && read <= 4 * manifestBytes + METADATA_BYTES;
    System.out.printf(
        "opening after a kill: a store of %d MiB in %d files, %d boundaries, manifest %d bytes:"
            + " %d bytes read from the device, %.1f ms (reading a manifest: %.2f ms), %s%n",
        stats.liveBytes() >> 20,
        files,
        stats.boundaries(),
        manifestBytes,
        read,
        openNanos / 1e6,
        readNanos / 1e6,
        good ? "ok" : "FAILED: " + store.recovery());
    return good;
  }

  private static SnapshotStore fill(Path directory, long bytes) {
    SnapshotStore store = open(directory, Math.max(128L << 20, bytes + bytes / 2));
    Namespace namespace =
        store.namespace(ModelIdentity.builder().weights("open cost").build(), LAYOUT);
    ByteBuffer rows = ByteBuffer.allocateDirect(BLOCKS * BLOCK_TOKENS * ROW_BYTES);
    Random random = new Random(1);
    while (rows.remaining() >= Long.BYTES) {
      rows.putLong(random.nextLong());
    }
    Memory memory = Memory.of(rows.clear());
    for (int chain = 0; store.stats().liveBytes() < bytes; chain++) {
      int offset = chain * 1_000_000;
      int[] tokens = IntStream.rangeClosed(offset, offset + BLOCKS * BLOCK_TOKENS).toArray();
      PrefillPlan plan = PrefillPlan.tokens(tokens.length).policy(RestorePolicy.EVERY);
      PrefillSession session = namespace.prefill(namespace.match(Prompt.ofTokens(tokens)), plan);
      for (int block = 1; block <= BLOCKS; block++) {
        int to = block * BLOCK_TOKENS;
        TensorView view =
            TensorView.linear(
                memory, 0, (long) BLOCKS * BLOCK_TOKENS * ROW_BYTES, ROW_BYTES, 0, to);
        session.append(
            java.util.Arrays.copyOfRange(tokens, to - BLOCK_TOKENS, to),
            StateViews.builder().put(ROWS, view).build());
      }
      session.promptComplete();
      if (store.stats().liveBytes() < bytes) {
        session.close(); // the last one is open when the process dies
      }
    }
    return store;
  }

  private static SnapshotStore open(Path directory, long quota) {
    return SnapshotStore.open(
        directory, StoreOptions.builder().quota(quota).backgroundThread(false).build());
  }

  private static Path manifest(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("manifest-"))
          .max(Comparator.comparing(file -> file.toFile().lastModified()))
          .orElseThrow();
    }
  }

  private static long count(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.count();
    }
  }

  /** What this process had the kernel fetch, page faults on maps included. */
  private static long deviceBytesRead() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
      if (line.startsWith("read_bytes: ")) {
        return Long.parseLong(line.substring("read_bytes: ".length()));
      }
    }
    throw new IOException("the kernel does not count");
  }
}
