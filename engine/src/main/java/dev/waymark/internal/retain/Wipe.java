package dev.waymark.internal.retain;

import dev.waymark.internal.forest.Forest;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * What goes when everything of some kind is to go: a boundary only after all that stands on it, and
 * nothing that is held or that stays needs. Pure.
 *
 * <p>One look at the forest names all that can go, one boundary each. It may have changed when a
 * boundary's turn comes, so that each is looked at again; another one that has its number by then
 * goes if it is wanted too.
 */
public final class Wipe {
  private final Forest forest;
  private final IntPredicate wanted;
  private final boolean keptToo;
  private final Victim.Reason reason;

  /**
   * A wipe.
   *
   * @param wanted which boundaries are to go, by what they are and not by their number
   * @param keptToo whether what is kept under a name goes as well, being released before
   */
  public Wipe(Forest forest, IntPredicate wanted, boolean keptToo, Victim.Reason reason) {
    this.forest = forest;
    this.wanted = wanted;
    this.keptToo = keptToo;
    this.reason = reason;
  }

  /** The boundaries that can go as it is now, in an order in which they can be dropped. */
  public int[] plan() {
    List<Integer> order = new ArrayList<>();
    forest.forEachRoot(order::add);
    for (int i = 0; i < order.size(); i++) {
      for (int child = forest.firstChild(order.get(i));
          child != Forest.NONE;
          child = forest.nextSibling(child)) {
        order.add(child);
      }
    }
    BitSet gone = new BitSet();
    Tails tails = new Tails(forest, gone::get);
    IntStream.Builder plan = IntStream.builder();
    for (int i = order.size() - 1; i >= 0; i--) {
      int node = order.get(i);
      if (isFree(tails, node)) {
        plan.add(node);
        gone.set(node);
      }
    }
    return plan.build().toArray();
  }

  /** Whether a boundary that was planned can still go, those before it being gone. */
  public boolean canGo(int node) {
    return forest.isThere(node) && isFree(new Tails(forest, any -> false), node);
  }

  private boolean isFree(Tails tails, int node) {
    return tails.isLeaf(node)
        && !(keptToo ? forest.isInUse(node) : forest.isHeld(node))
        && wanted.test(node);
  }

  /** What goes with a boundary that can go. */
  public Victim victim(int node) {
    List<Integer> nodes = List.of(node);
    return new Victim(nodes, new Tails(forest, any -> false).bytes(nodes), reason);
  }
}
