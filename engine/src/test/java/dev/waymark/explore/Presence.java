package dev.waymark.explore;

import dev.waymark.ExploredStore;
import dev.waymark.PrefixMatch;
import dev.waymark.explore.Space.Leaf;
import dev.waymark.explore.Space.Node;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Prompt;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Which boundaries and restore points a store says that it holds, and which chains it keeps: the
 * last boundary of each, by name.
 */
record Presence(Set<Node> rows, Set<Node> points, Map<String, BoundaryKey> kept) {

  /** Asks for every prompt of the world. */
  static Presence of(Opened opened) {
    Set<Node> rows = new LinkedHashSet<>();
    Set<Node> points = new LinkedHashSet<>();
    for (Space space : opened.world().spaces()) {
      for (Leaf leaf : space.leaves) {
        PrefixMatch match =
            opened.namespace(space).match(Prompt.ofTokens(leaf.tokens), leaf.tokens.length);
        for (int blocks = 1; blocks <= match.storedTokens() / Space.BLOCK; blocks++) {
          rows.add(leaf.node(blocks));
        }
        for (int tokens : match.points()) {
          points.add(leaf.node(tokens / Space.BLOCK));
        }
      }
    }
    return new Presence(rows, points, ExploredStore.kept(opened.store()));
  }

  boolean hasPointBelow(Node node) {
    return points.stream().anyMatch(node::isOnPathTo);
  }

  boolean hasPointAt(Node node) {
    return rows.contains(node) && (points.contains(node) || !node.space.needsPoints());
  }

  /** Points of namespaces that keep count of them. */
  long countedPoints() {
    return points.stream().filter(node -> node.space.needsPoints()).count();
  }
}
