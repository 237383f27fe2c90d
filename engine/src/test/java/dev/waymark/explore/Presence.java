package dev.waymark.explore;

import dev.waymark.PrefixMatch;
import dev.waymark.explore.Space.Leaf;
import dev.waymark.explore.Space.Node;
import dev.waymark.layout.Prompt;
import java.util.LinkedHashSet;
import java.util.Set;

/** Which boundaries and restore points a store says that it holds. */
record Presence(Set<Node> rows, Set<Node> points) {

  /** Asks for every prompt of the world. */
  static Presence of(Opened opened) {
    Set<Node> rows = new LinkedHashSet<>();
    Set<Node> points = new LinkedHashSet<>();
    for (Space space : Space.ALL) {
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
    return new Presence(rows, points);
  }

  boolean hasPointBelow(Node node) {
    return points.stream().anyMatch(node::isOnPathTo);
  }

  /** Points of namespaces that keep count of them. */
  long countedPoints() {
    return points.stream().filter(node -> node.space.needsPoints()).count();
  }
}
