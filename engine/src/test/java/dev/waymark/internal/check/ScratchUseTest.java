package dev.waymark.internal.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.fuzz.MemoryDirectory;
import dev.waymark.internal.recover.ManifestRebuild;
import dev.waymark.vectors.Vector;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** Whoever looks through all segments gives back the memory in which it looked at one. */
class ScratchUseTest {
  private static final int TIMES = 20;

  /** A few scratches may be kept for the next one. */
  private static final long MOST_BYTES = 20L << 20;

  private final MemoryDirectory directory =
      new MemoryDirectory(
          Vector.all("valid").stream()
              .filter(vector -> vector.name().equals("valid/example"))
              .findFirst()
              .orElseThrow()
              .files());

  @Test
  void verifyingAgainTakesNoMoreMemory() {
    assertBounded(() -> Verifier.verify(directory, () -> 0, Verifier.Level.ALL, bytes -> {}));
  }

  @Test
  void accountingForTensorsAgainTakesNoMoreMemory() {
    assertBounded(() -> TensorAccounts.of(directory, StoreLook.at(directory, () -> 0)));
  }

  @Test
  void rebuildingAgainTakesNoMoreMemory() {
    assertBounded(() -> ManifestRebuild.look(directory));
  }

  private static void assertBounded(Runnable look) {
    look.run();
    long before = directBytes();
    for (int i = 0; i < TIMES; i++) {
      look.run();
    }
    assertThat(directBytes() - before).isLessThan(MOST_BYTES);
  }

  private static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }
}
