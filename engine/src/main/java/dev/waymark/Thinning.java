package dev.waymark;

import dev.waymark.internal.forest.Drops;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.forest.OpenSession;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.retain.PointPlan;
import dev.waymark.internal.retain.StateCosts;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/** Applies the policies' pure decisions to chains of the forest. */
final class Thinning {
  private Thinning() {}

  /** The points of a chain, in order. */
  static List<Integer> pointTokens(Forest forest, int tip) {
    List<Integer> tokens = new ArrayList<>();
    for (int node = tip; node != Forest.NONE; node = forest.parent(node)) {
      if (forest.isPoint(node)) {
        tokens.add(forest.tokens(node));
      }
    }
    Collections.reverse(tokens);
    return tokens;
  }

  /** Thins the chain of a session that was open when the process died. */
  static void recovered(Forest forest, int tip, OpenSession session, Consumer<Edit> apply) {
    thin(forest, tip, session.opened().policy(), null, apply);
  }

  /**
   * Drops the points of a chain that newer ones supersede.
   *
   * @param own the caller's own hold on the chain's tip, which does not spare it
   * @param apply applies one edit before the next is asked for
   */
  static void thin(
      Forest forest, int tip, RestorePolicy policy, Forest.Hold own, Consumer<Edit> apply) {
    if (forest.isRoot(tip)) {
      return;
    }
    NamespaceState namespace = forest.namespaceOf(tip);
    if (!namespace.layout().needsPoints()) {
      return;
    }
    List<Integer> nodes = new ArrayList<>();
    List<PointPlan.ChainPoint> chain = new ArrayList<>();
    for (int node = tip; node != Forest.NONE; node = forest.parent(node)) {
      if (forest.isPoint(node)) {
        nodes.add(node);
        boolean spared =
            forest.isBranch(node) || forest.isHeldByOthers(node, own) || !isOnlyOwn(forest, node);
        chain.add(new PointPlan.ChainPoint(forest.tokens(node), spared));
      }
    }
    Collections.reverse(nodes);
    Collections.reverse(chain);
    List<Integer> superseded =
        PointPlan.superseded(
            policy,
            namespace.layout(),
            new StateCosts(namespace.layout(), namespace.codecs()),
            chain,
            0);
    Drops drops = new Drops(forest);
    for (int i = nodes.size() - 1; i >= 0; i--) {
      int node = nodes.get(i);
      if (superseded.contains(chain.get(i).tokens())) {
        apply.accept(drops.point(node, DropReason.THINNED));
        drops.staleDeltas(node, DropReason.THINNED).forEach(apply);
      }
    }
  }

  private static boolean isOnlyOwn(Forest forest, int node) {
    return forest.users(node).size() <= 1;
  }
}
