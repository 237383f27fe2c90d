package dev.waymark.internal.retain;

import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * Where the points of one prefill go: decided from the policy, the expected length, where the
 * prompt branches off from what is stored, and the points that its chain has. Pure bookkeeping,
 * owned by one session.
 */
public final class PointPlan {
  private final RestorePolicy policy;
  private final int blockTokens;
  private final int lastTokens;
  private final int branchTokens;
  private final boolean needsPoints;
  private final int exponent;
  private final NavigableSet<Integer> points = new TreeSet<>();

  /**
   * A plan.
   *
   * @param expectedTokens length of the prompt
   * @param branchTokens where it leaves what is stored, if others go on from there; else 0
   * @param chainPoints tokens of the points that its chain has already
   */
  public PointPlan(
      RestorePolicy policy,
      Layout layout,
      StateCosts costs,
      int expectedTokens,
      int branchTokens,
      Iterable<Integer> chainPoints,
      int widen) {
    this.policy = policy;
    this.blockTokens = layout.blockTokens();
    this.lastTokens = lastPointTokens(expectedTokens, blockTokens);
    this.branchTokens = branchTokens;
    this.needsPoints = layout.needsPoints();
    this.exponent = exponent(policy, layout, costs, lastTokens / blockTokens, widen);
    chainPoints.forEach(points::add);
  }

  /** The last whole block below a prompt's end, since a server needs one token's logits. */
  public static int lastPointTokens(int promptTokens, int blockTokens) {
    return promptTokens <= 0 ? 0 : (promptTokens - 1) / blockTokens * blockTokens;
  }

  private static int exponent(
      RestorePolicy policy, Layout layout, StateCosts costs, int blocks, int widen) {
    return policy.kind() == RestorePolicy.Kind.LATTICE
        ? Lattice.exponent(
            costs, layout.blockTokens(), blocks, policy.argument(), layout.maxWindowTokens(), widen)
        : 0;
  }

  /** Whether a point is to be written at a boundary that has none. */
  public boolean wants(int tokens) {
    if (!needsPoints || points.contains(tokens)) {
      return false;
    }
    return tokens == lastTokens || tokens == branchTokens || wantsByPolicy(tokens);
  }

  /** Whether a point may be left out at a boundary: a prompt's last and its branch may not. */
  public boolean isSpare(int tokens) {
    return tokens != lastTokens && tokens != branchTokens;
  }

  private boolean wantsByPolicy(int tokens) {
    int block = tokens / blockTokens;
    return switch (policy.kind()) {
      case EVERY -> true;
      case STRIDE -> block % policy.argument() == 0;
      case LAST -> false;
      case LATTICE ->
          Lattice.endsCell(block, exponent)
              && (tokens < lastTokens || tokens > lastTokens + blockTokens)
              && !hasPointInCell(block);
    };
  }

  private boolean hasPointInCell(int block) {
    int cellStart = Lattice.cellOf(block, exponent) << exponent;
    Integer newest = points.floor(block * blockTokens);
    return newest != null && newest > cellStart * blockTokens;
  }

  /** The next boundary after {@code tokens} where state will be asked for; 0 if there is none. */
  public int nextPointTokens(int tokens) {
    int from = tokens / blockTokens + 1;
    for (int block = from; block * (long) blockTokens <= lastTokens; block++) {
      if (wants(block * blockTokens)) {
        return block * blockTokens;
      }
    }
    return 0;
  }

  /** A boundary of the chain became a point. */
  public void added(int tokens) {
    // Sessions only go on: of the points behind, the newest is all that is asked for.
    points.headSet(tokens).clear();
    points.add(tokens);
  }

  /**
   * What a chain may lose once its prompt is complete: points that newer ones supersede.
   *
   * @param chain the chain's points, in order
   * @return tokens of the points to drop, in order
   */
  public static List<Integer> superseded(
      RestorePolicy policy, Layout layout, StateCosts costs, List<ChainPoint> chain, int widen) {
    List<Integer> drop = new ArrayList<>();
    if (chain.isEmpty() || policy.kind() == RestorePolicy.Kind.EVERY) {
      return drop;
    }
    int block = layout.blockTokens();
    int last = chain.get(chain.size() - 1).tokens();
    int exponent = exponent(policy, layout, costs, last / block, widen);
    for (int i = 0; i < chain.size() - 1; i++) {
      ChainPoint point = chain.get(i);
      int at = point.tokens() / block;
      int next = chain.get(i + 1).tokens() / block;
      boolean keeps =
          switch (policy.kind()) {
            case STRIDE -> at % policy.argument() == 0;
            case LATTICE -> Lattice.cellOf(at, exponent) != Lattice.cellOf(next, exponent);
            default -> false;
          };
      if (!keeps && !point.spared()) {
        drop.add(point.tokens());
      }
    }
    return drop;
  }

  /**
   * A point of a chain.
   *
   * @param spared a branch, or pinned, kept or used by another session
   */
  public record ChainPoint(int tokens, boolean spared) {}
}
