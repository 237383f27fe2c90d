package dev.waymark.internal.forest;

import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Layout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The edits that take something out of the forest, in an order in which each can be applied. Pure:
 * the caller applies them one by one before it asks for the next.
 */
public final class Drops {
  private final Forest forest;

  /** Drops out of a forest. */
  public Drops(Forest forest) {
    this.forest = forest;
  }

  /** What drops a point: its delta goes along unless later points' windows need it. */
  public Edit point(int node, DropReason reason) {
    return pointEdit(node, reason, !forest.isDeltaNeededBelow(node));
  }

  /**
   * Deltas on the chain above a node that no point needs any more, nearest first; asked for after
   * the node's point was dropped.
   */
  public List<Edit> staleDeltas(int dropped, DropReason reason) {
    List<Edit> edits = new ArrayList<>();
    int windowFrom = forest.windowFrom(dropped);
    for (int node = forest.parent(dropped);
        node != Forest.NONE && !forest.isRoot(node) && forest.tokens(node) > windowFrom;
        node = forest.parent(node)) {
      if (!forest.isPoint(node) && forest.hasDelta(node) && !forest.isDeltaNeededBelow(node)) {
        edits.add(pointEdit(node, reason, true));
      }
    }
    return edits;
  }

  /** What drops a boundary's rows. */
  public Edit rows(int node, DropReason reason) {
    return new Edit.RowsDropped(namespaceId(node), key(node), reason);
  }

  /** A boundary and all below it, deepest first, each with its point and delta. */
  public List<Edit> subtree(int top, DropReason reason) {
    List<Edit> edits = new ArrayList<>();
    List<Integer> order = new ArrayList<>();
    order.add(top);
    for (int i = 0; i < order.size(); i++) {
      for (int child = forest.firstChild(order.get(i));
          child != Forest.NONE;
          child = forest.nextSibling(child)) {
        order.add(child);
      }
    }
    for (int i = order.size() - 1; i >= 0; i--) {
      int node = order.get(i);
      if (forest.isPoint(node) || forest.hasDelta(node)) {
        edits.add(pointEdit(node, reason, true));
      }
      if (!forest.isRoot(node)) {
        edits.add(rows(node, reason));
      }
    }
    return edits;
  }

  /**
   * Drops a point whose state is lost. Its delta is not, and stays for points below.
   *
   * @param apply applies one edit before the next is asked for
   */
  public void lostState(int node, DropReason reason, Consumer<Edit> apply) {
    apply.accept(point(node, reason));
    staleDeltas(node, reason).forEach(apply);
  }

  /**
   * Drops a point whose delta is lost, and every point below whose window that leaves open: not
   * those whose window other deltas hold.
   *
   * @param apply applies one edit before the next is asked for
   */
  public void lostPoint(int node, DropReason reason, Consumer<Edit> apply) {
    if (forest.hasDelta(node)) {
      lostWindows(node, node, reason, apply);
    }
    apply.accept(pointEdit(node, reason, true));
    staleDeltas(node, reason).forEach(apply);
  }

  /**
   * The same, where the delta of which the lost one took the place stands again, for points below.
   *
   * @param older would add that delta
   */
  public void lostPoint(int node, Edit.PointAdded older, DropReason reason, Consumer<Edit> apply) {
    apply.accept(pointEdit(node, reason, true));
    apply.accept(older);
    apply.accept(pointEdit(node, reason, false));
    lostWindows(node, Forest.NONE, reason, apply);
    if (!forest.isDeltaNeededBelow(node)) {
      apply.accept(pointEdit(node, reason, true));
    }
    staleDeltas(node, reason).forEach(apply);
  }

  /** Drops every point below a node whose window is open without a lost delta. */
  private void lostWindows(int node, int lost, DropReason reason, Consumer<Edit> apply) {
    Layout layout = forest.namespaceOf(node).layout();
    int end = forest.tokens(node);
    List<Integer> order = new ArrayList<>();
    order.add(node);
    for (int i = 0; i < order.size(); i++) {
      for (int child = forest.firstChild(order.get(i));
          child != Forest.NONE;
          child = forest.nextSibling(child)) {
        if (layout.windowFrom(forest.tokens(child)) < end) {
          order.add(child);
        }
      }
    }
    for (int i = order.size() - 1; i >= 1; i--) {
      int below = order.get(i);
      if (forest.isPoint(below) && !forest.isWindowCoveredWithout(lost, below)) {
        apply.accept(point(below, reason));
      }
    }
  }

  private Edit pointEdit(int node, DropReason reason, boolean deltaToo) {
    return new Edit.PointDropped(namespaceId(node), key(node), reason, deltaToo);
  }

  private int namespaceId(int node) {
    return forest.namespaceOf(node).id();
  }

  private BoundaryKey key(int node) {
    return forest.key(node);
  }
}
