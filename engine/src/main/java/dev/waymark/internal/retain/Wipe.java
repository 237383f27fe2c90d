package dev.waymark.internal.retain;

import dev.waymark.internal.forest.Forest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * What goes when everything of some kind is to go: a boundary only after all that stands on it, and
 * nothing that is held or that stays needs. Pure.
 */
public final class Wipe {
  private Wipe() {}

  /** The victims in an order in which they can be dropped, one boundary each. */
  public static List<Victim> of(Forest forest, IntPredicate wanted, Victim.Reason reason) {
    List<Integer> order = new ArrayList<>();
    forest.forEachRoot(order::add);
    for (int i = 0; i < order.size(); i++) {
      for (int child = forest.firstChild(order.get(i));
          child != Forest.NONE;
          child = forest.nextSibling(child)) {
        order.add(child);
      }
    }
    Set<Integer> gone = new HashSet<>();
    Tails tails = new Tails(forest, gone::contains);
    List<Victim> victims = new ArrayList<>();
    for (int i = order.size() - 1; i >= 0; i--) {
      int node = order.get(i);
      if (tails.isFreeLeaf(node) && wanted.test(node)) {
        List<Integer> nodes = List.of(node);
        victims.add(new Victim(nodes, tails.bytes(nodes), tails.lostTokens(node), reason));
        gone.add(node);
      }
    }
    return victims;
  }
}
