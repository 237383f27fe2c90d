package dev.waymark.internal.reclaim;

import dev.waymark.internal.forest.Forest;

/**
 * When each boundary, or anything that stands on it, was used last: of all boundaries by one pass
 * over the forest, in which every node is met twice, whatever its shape. Pure.
 */
final class NewestUse {
  private final long[] newest;

  private NewestUse(long[] newest) {
    this.newest = newest;
  }

  /** As the forest is now. */
  static NewestUse of(Forest forest) {
    long[] newest = new long[forest.nodeEnd()];
    forest.forEachRoot(root -> walk(forest, root, newest));
    return new NewestUse(newest);
  }

  /** Down to the first child as long as there is one, then on to the next sibling, or up. */
  private static void walk(Forest forest, int root, long[] newest) {
    int at = root;
    while (at != Forest.NONE) {
      newest[at] = forest.recency(at);
      int next = forest.firstChild(at);
      while (next == Forest.NONE && at != root) {
        int above = forest.parent(at);
        newest[above] = Math.max(newest[above], newest[at]);
        next = forest.nextSibling(at);
        at = next == Forest.NONE ? above : at;
      }
      at = next;
    }
  }

  /** Of a boundary that was there. */
  long of(int node) {
    return newest[node];
  }
}
