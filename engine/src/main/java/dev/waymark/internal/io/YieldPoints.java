package dev.waymark.internal.io;

/**
 * Told by the engine when it is at a place where another thread may run, or the process may end,
 * and where it holds no lock of its own. A simulator switches threads and cuts the power there; in
 * production nothing happens.
 */
@FunctionalInterface
public interface YieldPoints {
  /** Does nothing. */
  YieldPoints NONE = label -> {};

  /**
   * Called on the thread that got there.
   *
   * @param label names the place; a constant, so that a simulator can count on it
   */
  void reached(String label);
}
