package dev.waymark.explore;

import dev.waymark.internal.io.StoreDirectory;
import java.util.function.UnaryOperator;

/**
 * How far an exploration goes.
 *
 * @param powerLoss whether states after a power loss are explored, and not only those after a kill
 * @param faults whether calls fail now and then
 * @param statesAWorkload states of one workload at most
 * @param between what stands between the engine and the simulated directory, made anew for each
 *     process; a planted mistake, or nothing
 */
record Scope(
    boolean powerLoss, boolean faults, int statesAWorkload, UnaryOperator<StoreDirectory> between) {

  static Scope all() {
    return new Scope(true, true, 400, UnaryOperator.identity());
  }

  Scope killsOnly() {
    return new Scope(false, faults, statesAWorkload, between);
  }

  Scope with(UnaryOperator<StoreDirectory> other) {
    return new Scope(powerLoss, faults, statesAWorkload, other);
  }

  Scope withoutFaults() {
    return new Scope(powerLoss, false, statesAWorkload, between);
  }

  Scope states(int most) {
    return new Scope(powerLoss, faults, most, between);
  }
}
