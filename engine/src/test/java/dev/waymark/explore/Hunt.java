package dev.waymark.explore;

/** Explores on one thread until the first promise is broken. */
public final class Hunt {
  private Hunt() {}

  /**
   * Hunts.
   *
   * @param seed the first workload's
   * @param mostStates gives up after so many
   * @return states explored, seed, and what was found, each after a tab; null if nothing was
   */
  public static String hunt(long seed, long mostStates, boolean killsOnly) {
    Scope scope = scope(killsOnly);
    Tally tally = new Tally();
    for (long own = seed; tally.states < mostStates; own++) {
      try {
        new Workload(own, scope, tally, line -> {}).run();
      } catch (Violation e) {
        return tally.states + "\t" + own + "\t" + e.kind + ": " + e.getMessage().split("\n")[0];
      }
    }
    return null;
  }

  /** Whether one workload finds nothing. */
  public static boolean isSound(long seed, boolean killsOnly) {
    try {
      new Workload(seed, scope(killsOnly), new Tally(), line -> {}).run();
      return true;
    } catch (Violation e) {
      return false;
    }
  }

  private static Scope scope(boolean killsOnly) {
    return killsOnly ? Scope.all().killsOnly() : Scope.all();
  }
}
