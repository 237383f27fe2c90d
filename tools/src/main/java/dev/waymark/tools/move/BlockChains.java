package dev.waymark.tools.move;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which block follows which: as companions say, else as a given order says, else each by itself.
 * What cannot be reached from a first block is a cycle, and refused.
 */
final class BlockChains {
  private final Map<String, Node> nodes = new LinkedHashMap<>();
  private final List<Node> roots = new ArrayList<>();

  /** A block in its chain. */
  static final class Node {
    private final BlockFile block;
    private final BlockCompanion companion;
    private final List<Node> children = new ArrayList<>();
    private Node parent;
    private boolean placed;
    private boolean allIds;

    Node(BlockFile block, BlockCompanion companion) {
      this.block = block;
      this.companion = companion;
    }

    BlockFile block() {
      return block;
    }

    /** The block before, or null. */
    Node parent() {
      return parent;
    }

    List<Node> children() {
      return children;
    }

    /** Whether it is known where in a prompt it stands; else rows are all that can be stored. */
    boolean isPlaced() {
      return placed;
    }

    /** Whether its token ids, and those of all blocks before it, are known. */
    boolean hasAllIds() {
      return allIds;
    }

    /** Its token ids, or null. */
    int[] tokenIds() {
      return companion == null ? null : companion.tokenIds();
    }
  }

  /**
   * Puts blocks into chains.
   *
   * @param companions by hash, of those that have one
   * @param order chains of hashes, for those that have none
   * @throws BadImportException if they contradict each other
   */
  BlockChains(
      List<BlockFile> blocks, Map<String, BlockCompanion> companions, List<List<String>> order) {
    for (BlockFile block : blocks) {
      nodes.put(block.hash(), new Node(block, companions.get(block.hash())));
    }
    Map<String, String> parentOf = parents(order);
    for (Node node : nodes.values()) {
      place(node, parentOf);
    }
    requireAllReachable();
  }

  private Map<String, String> parents(List<List<String>> order) {
    Map<String, String> parentOf = new HashMap<>();
    for (List<String> chain : order) {
      for (int i = 0; i < chain.size(); i++) {
        parentOf.put(chain.get(i), i == 0 ? "" : chain.get(i - 1));
      }
    }
    return parentOf;
  }

  private void place(Node node, Map<String, String> parentOf) {
    String hash = node.block().hash();
    String parentHash = "";
    boolean known = true;
    if (node.companion != null) {
      parentHash = node.companion.parentHash() == null ? "" : node.companion.parentHash();
    } else if (parentOf.containsKey(hash)) {
      parentHash = parentOf.get(hash);
    } else {
      known = false;
    }
    node.parent = parentHash.isEmpty() ? null : nodes.get(parentHash);
    node.placed = known && (parentHash.isEmpty() || node.parent != null);
    if (node.parent == null) {
      roots.add(node);
    } else {
      node.parent.children.add(node);
    }
  }

  private void requireAllReachable() {
    int reached = 0;
    Deque<Node> open = new ArrayDeque<>(roots);
    Map<Node, Integer> startOf = new HashMap<>();
    while (!open.isEmpty()) {
      Node node = open.pop();
      reached++;
      int start = node.parent == null ? 0 : startOf.get(node.parent);
      if (node.parent != null) {
        start += node.parent.block().tokenCount();
        requirePosition(node, start);
      } else if (node.placed) {
        requirePosition(node, 0);
      }
      startOf.put(node, start);
      node.placed &= node.parent == null || node.parent.placed;
      node.allIds =
          node.placed && node.companion != null && (node.parent == null || node.parent.allIds);
      node.children.forEach(open::push);
    }
    if (reached < nodes.size()) {
      throw new BadImportException(
          ImportFault.PARENT_CYCLE,
          "",
          "every block to follow a first one",
          (nodes.size() - reached) + " that do not",
          "take their companions away: they are then stored by themselves");
    }
  }

  /** Only where its parent is there: what follows a block that is gone is stored by itself. */
  private static void requirePosition(Node node, int start) {
    boolean follows = node.parent == null || node.parent.placed;
    if (node.companion != null && follows && node.companion.tokenStart() != start) {
      throw new BadImportException(
          ImportFault.POSITION_CONTRADICTS,
          PlainFiles.shown(BlockFolder.companion(node.block())),
          "a token_start of " + start,
          node.companion.tokenStart(),
          "take the companion away: its block is then stored by itself");
    }
  }

  /** First blocks, and those that are stored by themselves. */
  List<Node> roots() {
    return roots;
  }
}
