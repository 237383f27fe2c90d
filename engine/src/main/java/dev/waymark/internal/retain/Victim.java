package dev.waymark.internal.retain;

import java.util.List;

/**
 * What can go as one: a leaf of the forest with its point, and the rows that only it needs.
 *
 * @param nodes the leaf first, then its ancestors upwards
 * @param freedBytes whole pages of the records that go with them
 * @param reason why it is its turn
 */
public record Victim(List<Integer> nodes, long freedBytes, Reason reason) {
  /** Why it is its turn. */
  public enum Reason {
    /** Nobody in this process has asked for its namespace. */
    UNUSED_NAMESPACE,
    /** Rows from which no point can resume. */
    NO_POINT,
    /** The lowest score. */
    SCORE,
    /** Older than what was asked for. */
    AGE,
    /** What was asked for. */
    ASKED
  }

  /** The leaf. */
  public int leaf() {
    return nodes.get(0);
  }
}
