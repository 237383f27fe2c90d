package dev.waymark;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random stores, driven at random, against a plain model: every restore is equal to the byte, every
 * match and every account is what the model says.
 *
 * <p>{@code -Dseed=N} replays one run, {@code -Druns=N} makes so many; both, so many from that one
 * on.
 */
class RandomRunsTest {
  /** The build runs the same each time; -Dseed= and -Druns= look elsewhere. */
  private static final long FIRST_SEED = 20261130;

  private static final int RUNS = 400;

  static long[] seeds() {
    String seed = System.getProperty("seed");
    if (seed != null && Integer.getInteger("runs") == null) {
      return new long[] {Long.parseLong(seed)};
    }
    long base = seed == null ? FIRST_SEED * 31 : Long.parseLong(seed);
    return java.util.stream.LongStream.range(0, 20).map(i -> base + i * perGroup()).toArray();
  }

  private static int perGroup() {
    return Math.max(1, Integer.getInteger("runs", RUNS) / 20);
  }

  @ParameterizedTest(name = "from seed {0} on")
  @MethodSource("seeds")
  void everyRestoreIsExactAndEveryMatchIsAsTheModelSays(long first) {
    int count =
        System.getProperty("seed") != null && Integer.getInteger("runs") == null ? 1 : perGroup();
    for (long seed = first; seed < first + count; seed++) {
      RandomRun run = new RandomRun(seed);
      try {
        run.run();
      } catch (Throwable e) {
        throw new AssertionError(
            "replay with -Dseed=" + seed + "\n" + run.story() + "\n" + e.getMessage(), e);
      }
    }
  }
}
