package dev.waymark;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.retain.PinnedBytes;
import dev.waymark.layout.BoundaryKey;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A chain that is kept against eviction.
 *
 * @param namespace fingerprint of its namespace
 * @param key of its last boundary
 * @param name under which it is kept
 * @param tokens of its last boundary
 * @param bytes whole pages of the records on it; chains share some of them
 */
public record KeptChain(
    BoundaryKey namespace, BoundaryKey key, String name, int tokens, long bytes) {
  /** The most characters that a name may have. */
  public static final int MOST_NAME_CHARS = 200;

  /**
   * {@return whether a chain can be kept under that name} Names have 1 to {@link #MOST_NAME_CHARS}
   * characters, not all of them blank, none of control.
   *
   * @param name the name
   */
  public static boolean isName(String name) {
    return !name.isBlank()
        && name.length() <= MOST_NAME_CHARS
        && name.chars().noneMatch(Character::isISOControl)
        && StandardCharsets.UTF_8.newEncoder().canEncode(name);
  }

  /** All that a forest keeps. */
  static List<KeptChain> of(Forest forest) {
    return forest.kept().stream()
        .map(kept -> of(forest, kept.namespaceId(), kept.name(), kept.node()))
        .toList();
  }

  static KeptChain of(Forest forest, int namespaceId, String name, int node) {
    return new KeptChain(
        forest.namespace(namespaceId).fingerprint(),
        forest.key(node),
        name,
        forest.tokens(node),
        PinnedBytes.of(forest, new int[] {node}));
  }
}
