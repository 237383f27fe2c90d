package dev.waymark;

import dev.waymark.internal.forest.Forest;
import dev.waymark.layout.Layout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Which window rows of one chain are in deltas: those that the forest has, and those that a prefill
 * will add. Says the same as {@link Forest#coveredTo} and {@link Forest#hasUsableDelta} will.
 *
 * <p>Owned by one estimate. Invariant: deltas ascend in {@code toTokens}.
 */
final class WindowCoverage {
  private final Layout layout;
  private final List<Delta> deltas;

  /** Rows of one boundary's delta. */
  private record Delta(int fromTokens, int toTokens) {}

  private WindowCoverage(Layout layout, List<Delta> deltas) {
    this.layout = layout;
    this.deltas = deltas;
  }

  /** Of a chain that has none. */
  static WindowCoverage none(Layout layout) {
    return new WindowCoverage(layout, new ArrayList<>());
  }

  /** Of the chain up to a node; the caller is inside a read or write of publishing. */
  static WindowCoverage of(Layout layout, Forest forest, int tip) {
    List<Delta> deltas = new ArrayList<>();
    for (int node = tip; !forest.isRoot(node); node = forest.parent(node)) {
      if (forest.hasDelta(node)) {
        deltas.add(new Delta(forest.coveredFrom(node), forest.tokens(node)));
      }
    }
    Collections.reverse(deltas);
    return new WindowCoverage(layout, deltas);
  }

  WindowCoverage copy() {
    return new WindowCoverage(layout, new ArrayList<>(deltas));
  }

  /** First window row that a point has to write; {@code toTokens} where it has to write none. */
  int coveredTo(int toTokens) {
    int windowFrom = layout.windowFrom(toTokens);
    int end = 0;
    int lowest = Integer.MAX_VALUE;
    int next = deltas.size() - 1;
    while (next >= 0 && deltas.get(next).toTokens() > toTokens) {
      next--;
    }
    boolean own = next >= 0 && deltas.get(next).toTokens() == toTokens;
    for (int i = next; i >= 0 && deltas.get(i).toTokens() > windowFrom; i--) {
      Delta delta = deltas.get(i);
      end = Math.max(end, delta.toTokens());
      lowest = Math.min(lowest, end);
      if (delta.toTokens() < lowest) {
        break;
      }
      lowest = Math.min(lowest, delta.fromTokens());
      if (lowest <= windowFrom) {
        return end;
      }
    }
    // A delta of its own that rests on nothing is of no use: the point writes another.
    return own ? withoutOwn(next).coveredTo(toTokens) : windowFrom;
  }

  private WindowCoverage withoutOwn(int own) {
    WindowCoverage without = new WindowCoverage(layout, new ArrayList<>(deltas));
    without.deltas.remove(own);
    return without;
  }

  /** A point writes its window rows from there on. */
  void add(int fromTokens, int toTokens) {
    if (fromTokens < toTokens) {
      int at = deltas.size();
      while (at > 0 && deltas.get(at - 1).toTokens() >= toTokens) {
        at--;
      }
      if (at < deltas.size() && deltas.get(at).toTokens() == toTokens) {
        deltas.remove(at);
      }
      deltas.add(at, new Delta(fromTokens, toTokens));
    }
  }
}
