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
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/**
 * Applies the policies' pure decisions to chains of the forest.
 *
 * <p>Invariant: a point gives way only to one that stays. What is not durable supersedes nothing
 * that is, since its force may fail; what another open session may take back supersedes nothing,
 * since that session may.
 */
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
    thin(forest, tip, session.opened().policy(), session.id(), null, node -> true, apply);
  }

  /**
   * Drops the points of a chain that newer ones supersede.
   *
   * @param sessionId the session that thins
   * @param own its own hold on the chain's tip, which does not spare it
   * @param isDurable whether the point at a node is known to be durable
   * @param apply applies one edit before the next is asked for
   */
  static void thin(
      Forest forest,
      int tip,
      RestorePolicy policy,
      long sessionId,
      Forest.Hold own,
      IntPredicate isDurable,
      Consumer<Edit> apply) {
    if (forest.isRoot(tip)) {
      return;
    }
    NamespaceState namespace = forest.namespaceOf(tip);
    if (!namespace.layout().needsPoints()) {
      return;
    }
    List<Integer> nodes = new ArrayList<>();
    List<PointPlan.ChainPoint> chain = new ArrayList<>();
    List<PointPlan.ChainPoint> durable = new ArrayList<>();
    for (int node = tip; node != Forest.NONE; node = forest.parent(node)) {
      if (!forest.isPoint(node) || forest.mayBeTakenBack(node, sessionId)) {
        continue;
      }
      boolean spared =
          forest.isBranch(node) || forest.isHeldByOthers(node, own) || !isOnlyOwn(forest, node);
      PointPlan.ChainPoint point = new PointPlan.ChainPoint(forest.tokens(node), spared);
      nodes.add(node);
      chain.add(point);
      if (isDurable.test(node)) {
        durable.add(point);
      }
    }
    Set<Integer> superseded = superseded(namespace, policy, chain);
    Set<Integer> supersededDurably =
        durable.size() == chain.size() ? superseded : superseded(namespace, policy, durable);
    Drops drops = new Drops(forest);
    for (int node : nodes) {
      int tokens = forest.tokens(node);
      if (superseded.contains(tokens)
          && (supersededDurably.contains(tokens) || !isDurable.test(node))) {
        apply.accept(drops.point(node, DropReason.THINNED));
        drops.staleDeltas(node, DropReason.THINNED).forEach(apply);
      }
    }
  }

  /** Tokens of the points that others of the chain supersede; the chain from its tip up. */
  private static Set<Integer> superseded(
      NamespaceState namespace, RestorePolicy policy, List<PointPlan.ChainPoint> chain) {
    List<PointPlan.ChainPoint> inOrder = new ArrayList<>(chain);
    Collections.reverse(inOrder);
    StateCosts costs = new StateCosts(namespace.layout(), namespace.codecs());
    return Set.copyOf(PointPlan.superseded(policy, namespace.layout(), costs, inOrder, 0));
  }

  private static boolean isOnlyOwn(Forest forest, int node) {
    return forest.users(node).size() <= 1;
  }
}
