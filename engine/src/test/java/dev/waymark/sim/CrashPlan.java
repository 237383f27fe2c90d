package dev.waymark.sim;

/**
 * When the power goes, or the process is killed. The call at which it does throws {@link
 * SimulatedCrash}, and so does every later one.
 *
 * @param crashPoint number of the crash point, from 1; 0 for none
 * @param label the yield point, or empty
 * @param nth which time that the label is reached, from 1
 * @param percent how much of a write, put or allocation is done before the crash
 */
public record CrashPlan(long crashPoint, String label, int nth, int percent) {
  /** No crash. */
  public static final CrashPlan NEVER = new CrashPlan(0, "", 0, 0);

  /** Crashes before the k-th state-changing call or yield point takes effect, from 1. */
  public static CrashPlan atOperation(long k) {
    return new CrashPlan(k, "", 0, 0);
  }

  /** Crashes when that yield point is reached for the n-th time, from 1. */
  public static CrashPlan atLabel(String label, int n) {
    return new CrashPlan(0, label, n, 0);
  }

  /** Lets the call do a part first: matters to a kill, as a power loss may choose that anyway. */
  public CrashPlan afterPercent(int part) {
    return new CrashPlan(crashPoint, label, nth, part);
  }
}
