package dev.waymark.internal.retain;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordLocation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * The exclusive tail of a leaf: what may go with it. It ends below the nearest ancestor that has a
 * point of its own, another child, or a holder; so that nothing is left from which no point can
 * resume, but for rows that others stand on.
 */
public final class Tails {
  private final Forest forest;
  private final IntPredicate gone;

  /**
   * Tails in a forest.
   *
   * @param gone nodes to be taken as dropped, so that a plan can be made without being carried out
   */
  public Tails(Forest forest, IntPredicate gone) {
    this.forest = forest;
    this.gone = gone;
  }

  /** Whether nothing stands on a boundary, and nobody holds it. */
  boolean isFreeLeaf(int node) {
    return isLeaf(node) && !forest.isHeld(node);
  }

  /** Whether nothing stands on a boundary. */
  boolean isLeaf(int node) {
    return !forest.isRoot(node) && !gone.test(node) && !hasChild(node);
  }

  private boolean hasChild(int node) {
    for (int at = forest.firstChild(node); at != Forest.NONE; at = forest.nextSibling(at)) {
      if (!gone.test(at)) {
        return true;
      }
    }
    return false;
  }

  private boolean hasOtherChild(int node, int child) {
    for (int at = forest.firstChild(node); at != Forest.NONE; at = forest.nextSibling(at)) {
      if (at != child && !gone.test(at)) {
        return true;
      }
    }
    return false;
  }

  /** The leaf, then what goes with it, upwards. */
  List<Integer> tail(int leaf) {
    List<Integer> nodes = new ArrayList<>();
    nodes.add(leaf);
    int below = leaf;
    for (int at = forest.parent(leaf);
        !forest.isRoot(at)
            && !forest.isRestorable(at)
            && !hasOtherChild(at, below)
            && !forest.isHeld(at);
        at = forest.parent(at)) {
      nodes.add(at);
      below = at;
    }
    return nodes;
  }

  /**
   * What became a leaf that no point can resume from, with what goes with it: nearest first. Empty
   * where there is a point, another child, or a holder.
   */
  public List<Integer> stranded(int node) {
    boolean kept = forest.isRoot(node) || forest.isRestorable(node) || !isFreeLeaf(node);
    return kept ? List.of() : tail(node);
  }

  /** Tokens from the nearest restorable ancestor to the leaf. */
  int lostTokens(int leaf) {
    int at = forest.parent(leaf);
    while (!forest.isRoot(at) && !forest.isRestorable(at)) {
      at = forest.parent(at);
    }
    return forest.tokens(leaf) - forest.tokens(at);
  }

  /** Whole pages of everything that stands at these nodes. */
  long bytes(List<Integer> nodes) {
    long bytes = 0;
    for (int node : nodes) {
      bytes +=
          pages(forest.rowRecords(node))
              + pages(forest.deltaRecords(node))
              + pages(forest.stateRecords(node));
    }
    return bytes;
  }

  private static long pages(List<RecordLocation> records) {
    long bytes = 0;
    for (RecordLocation record : records) {
      bytes += Alignment.toPage(record.lengthBytes());
    }
    return bytes;
  }
}
