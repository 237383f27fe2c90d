package dev.waymark;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.retain.PinnedBytes;
import java.util.List;

/**
 * A chain that is kept against eviction.
 *
 * @param namespace first 8 hex digits of its namespace's fingerprint
 * @param name under which it is kept
 * @param tokens of its last boundary
 * @param bytes whole pages of the records on it; chains share some of them
 */
public record KeptChain(String namespace, String name, int tokens, long bytes) {
  /** All that a forest keeps. */
  static List<KeptChain> of(Forest forest) {
    return forest.kept().stream()
        .map(kept -> of(forest, kept.namespaceId(), kept.name(), kept.node()))
        .toList();
  }

  static KeptChain of(Forest forest, int namespaceId, String name, int node) {
    return new KeptChain(
        forest.namespace(namespaceId).fingerprint().abbreviated(),
        name,
        forest.tokens(node),
        PinnedBytes.of(forest, new int[] {node}));
  }
}
