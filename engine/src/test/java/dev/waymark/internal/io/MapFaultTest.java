package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.StoreIoException;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file cut short under its map: in a JVM of its own, since the wrong access would kill it. */
class MapFaultTest {
  private static final int ROUNDS = 5_000;
  private static final int LENGTH = 1 << 20;

  @TempDir Path temp;

  /** Reads and writes pages that are gone, in compiled code, and looks for late errors. */
  static final class CutShort {
    public static void main(String[] arguments) {
      UnsafeBuffer heap = Bytes.heap(10_000);
      UnsafeBuffer direct = Bytes.direct(10_000);
      int typed = 0;
      try (RealDirectory directory =
              RealDirectory.openForWriting(Path.of(arguments[0]), false, Mapping.MAPPED);
          StoreFile file = directory.create("a")) {
        file.allocate(0, LENGTH);
        try (MappedRegion region = file.map(LENGTH, true)) {
          for (int i = 0; i < 50_000; i++) {
            region.put(i, heap, 0, 64);
            region.get(i, direct, 0, 64);
          }
          file.setLength(4096);
          for (int i = 0; i < ROUNDS; i++) {
            UnsafeBuffer buffer = i % 2 == 0 ? heap : direct;
            int length = 1 + i % 10_000;
            long offset = 8192 + i * 100L;
            typed += failsTyped(() -> region.get(offset, buffer, 0, length), offset);
            typed += failsTyped(() -> region.put(offset, buffer, 0, length), offset);
            churn(i);
            region.get(0, heap, 0, 4096);
          }
          file.allocate(0, LENGTH);
          region.put(8192, heap, 0, 10_000);
          region.get(8192, direct, 0, 10_000);
        }
      }
      System.out.println("typed " + typed);
    }

    private static int failsTyped(Runnable access, long offset) {
      try {
        access.run();
        throw new AssertionError("no failure at " + offset);
      } catch (StoreIoException e) {
        if (!e.getMessage().contains("in a at byte " + offset)) {
          throw new AssertionError("a failure that does not say where", e);
        }
        return 1;
      }
    }

    /** Where a fault that was not brought out would surface. */
    private static void churn(int i) {
      StringBuilder text = new StringBuilder();
      for (int j = 0; j < 20; j++) {
        text.append(i).append(new byte[j].length);
      }
      if (text.isEmpty()) {
        throw new AssertionError();
      }
    }
  }

  @Test
  void isATypedFailureEveryTime() {
    ForkedJvm.Result result = ForkedJvm.run(CutShort.class, temp.toString());
    assertThat(result.output().lines()).containsExactly("typed " + 2 * ROUNDS);
    assertThat(result.exitCode()).isZero();
  }
}
