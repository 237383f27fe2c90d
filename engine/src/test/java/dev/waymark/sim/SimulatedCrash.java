package dev.waymark.sim;

/**
 * The power is off. An Error, so that code that catches exceptions does not go on without power.
 */
public final class SimulatedCrash extends Error {
  private static final long serialVersionUID = 1L;

  /** The first one carries a stack, to show where; those of later calls do not. */
  SimulatedCrash(String where, boolean first) {
    super(where, null, false, first);
  }
}
