package dev.waymark.explore;

/**
 * How far an exploration goes.
 *
 * @param powerLoss whether states after a power loss are explored, and not only those after a kill
 * @param faults whether calls fail now and then
 * @param statesAWorkload states of one workload at most
 */
record Scope(boolean powerLoss, boolean faults, int statesAWorkload) {

  static Scope all() {
    return new Scope(true, true, 100);
  }

  Scope killsOnly() {
    return new Scope(false, faults, statesAWorkload);
  }

  Scope withoutFaults() {
    return new Scope(powerLoss, false, statesAWorkload);
  }

  /** The options that ask for it. */
  String options() {
    return (powerLoss ? "" : " --kills-only") + (faults ? "" : " --no-faults");
  }
}
