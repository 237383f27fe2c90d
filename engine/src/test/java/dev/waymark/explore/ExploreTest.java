package dev.waymark.explore;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** No crash loses what was acknowledged, or makes the store return what is wrong. */
class ExploreTest {
  private static final long SEED = 20_261_130;

  @Test
  void noCrashLosesAnything() throws InterruptedException {
    System.out.println("crash states from seed " + SEED);
    Tally tally =
        new Explore("--states", "10000", "--nested", "500", "--seed", Long.toString(SEED)).run();
    assertThat(tally.line())
        .isEqualTo(
            "crash states: %d explored, %d nested, 0 lost, 0 wrong", tally.states, tally.nested);
    assertThat(tally.states).isGreaterThanOrEqualTo(10_000);
    assertThat(tally.nested).isGreaterThanOrEqualTo(500);
  }
}
