package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.error.DiskFullException;
import java.io.IOException;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A file system of 64 MiB, filled: in a JVM of its own, since a touched hole would kill it. */
class FullDiskTest {
  private static final int STEP_BYTES = 4 << 20;

  @TempDir Path mountPoint;

  @BeforeEach
  void mount() throws Exception {
    boolean mounted;
    try {
      mounted = run("mount", "-t", "tmpfs", "-o", "size=64m", "none", mountPoint.toString());
    } catch (IOException e) {
      mounted = false;
    }
    assumeTrue(mounted, "needs the right to mount a tmpfs");
  }

  @AfterEach
  void unmount() throws Exception {
    run("umount", "-l", mountPoint.toString());
  }

  /** Fills the disk through a map and by writes, frees some, and goes on. */
  static final class Fill {
    public static void main(String[] arguments) {
      Path path = Path.of(arguments[0]);
      Mapping mapping = Mapping.valueOf(arguments[1]);
      UnsafeBuffer step = Bytes.random(STEP_BYTES, 1);
      UnsafeBuffer read = Bytes.heap(STEP_BYTES);
      try (RealDirectory directory = RealDirectory.openForWriting(path, true, mapping);
          StoreFile old = directory.create("old");
          StoreFile segment = directory.create("segment");
          StoreFile plain = directory.create("plain");
          MappedRegion region = segment.map(256L << 20, true)) {
        directory.lock();
        old.allocate(0, STEP_BYTES);
        old.write(0, step, 0, STEP_BYTES);
        plain.write(0, step, 0, 100);

        long filled = fill(segment, region, step);
        long length = segment.lengthBytes();
        long allocated = segment.allocatedBytes();
        expectFull(() -> segment.allocate(filled, 128L << 20));
        check(segment.lengthBytes() == length, "the length stayed");
        check(segment.allocatedBytes() == allocated, "no more is allocated");
        expectFull(() -> plain.allocate(4096, 128L << 20));
        check(plain.lengthBytes() == 100, "a grown file has its old length");
        expectFull(() -> plain.write(100, step, 0, STEP_BYTES));

        old.read(0, read, 0, STEP_BYTES);
        check(read.equals(step), "other files read");
        region.get(filled - STEP_BYTES, read, 0, STEP_BYTES);
        check(read.equals(step), "the filled file reads");
        directory.list();
        directory.force();
        try (RealDirectory again = RealDirectory.openForWriting(path, true, mapping)) {
          check(again.traits().canAllocate(), "a full file system opens");
        }

        plain.setLength(100);
        old.close();
        directory.delete("old");
        segment.allocate(filled, STEP_BYTES);
        region.put(filled, step, 0, STEP_BYTES);
        region.force(filled, STEP_BYTES);
        region.get(filled, read, 0, STEP_BYTES);
        check(read.equals(step), "appends resume");
      }
      System.out.println("alive");
    }

    private static long fill(StoreFile segment, MappedRegion region, UnsafeBuffer step) {
      long filled = 0;
      while (true) {
        try {
          segment.allocate(filled, STEP_BYTES);
        } catch (DiskFullException e) {
          return filled;
        }
        region.put(filled, step, 0, STEP_BYTES);
        filled += STEP_BYTES;
      }
    }

    private static void expectFull(Runnable call) {
      try {
        call.run();
      } catch (DiskFullException e) {
        check(e.detail().offsetBytes().isPresent(), "it says where");
        return;
      }
      throw new AssertionError("the disk is not full");
    }

    private static void check(boolean good, String what) {
      if (!good) {
        throw new AssertionError("not so: " + what);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Mapping.class)
  void isTypedAndPasses(Mapping mapping) {
    Path store = mountPoint.resolve("store");
    ForkedJvm.Result result = ForkedJvm.run(Fill.class, store.toString(), mapping.name());
    assertThat(result.output().lines()).containsExactly("alive");
    assertThat(result.exitCode()).isZero();
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
  }
}
