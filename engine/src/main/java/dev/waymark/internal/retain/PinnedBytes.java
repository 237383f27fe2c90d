package dev.waymark.internal.retain;

import dev.waymark.internal.forest.Forest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What cannot go now: everything on the chains that someone holds or keeps. */
public final class PinnedBytes {
  private PinnedBytes() {}

  /** Whole pages of the records on held and kept chains, each counted once. */
  public static long of(Forest forest) {
    return of(forest, forest.heldNodes());
  }

  /** Whole pages of the records on the chains that end at these nodes, each counted once. */
  public static long of(Forest forest, int[] tips) {
    Set<Integer> seen = new HashSet<>();
    Tails tails = new Tails(forest, node -> false);
    long bytes = 0;
    for (int tip : tips) {
      for (int at = tip; at != Forest.NONE && !forest.isRoot(at) && seen.add(at); ) {
        bytes += tails.bytes(List.of(at));
        at = forest.parent(at);
      }
    }
    return bytes;
  }
}
