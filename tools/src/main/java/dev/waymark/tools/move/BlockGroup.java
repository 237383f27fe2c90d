package dev.waymark.tools.move;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Blocks of one model that are of one layout: of the same layers, and whose rows and windows, where
 * they hold them, have the same type and width.
 */
final class BlockGroup {
  private final List<BlockFile> blocks = new ArrayList<>();
  private final Map<String, String> rows = new TreeMap<>();

  /** Puts each block into the first group that takes it. */
  static void add(List<BlockGroup> groups, BlockFile block) {
    for (BlockGroup group : groups) {
      if (group.take(block)) {
        return;
      }
    }
    BlockGroup group = new BlockGroup();
    group.take(block);
    groups.add(group);
  }

  private boolean take(BlockFile block) {
    if (!blocks.isEmpty() && !isAlike(blocks.get(0), block)) {
      return false;
    }
    Map<String, String> own = new TreeMap<>();
    for (BlockState state : block.states()) {
      if (state.tensor() != null && BlockLayout.growth(state, block) != CacheKind.FIXED) {
        List<Long> shape = state.tensor().shape();
        String ring =
            state.ring() == null ? "" : state.ring().keep() + " of " + state.ring().maxRows();
        own.put(
            state.name(),
            state.tensor().dtype() + " " + shape.get(1) + " x " + shape.get(3) + " " + ring);
      }
    }
    for (Map.Entry<String, String> entry : own.entrySet()) {
      if (!rows.getOrDefault(entry.getKey(), entry.getValue()).equals(entry.getValue())) {
        return false;
      }
    }
    rows.putAll(own);
    blocks.add(block);
    return true;
  }

  private static boolean isAlike(BlockFile a, BlockFile b) {
    return a.modelName().equals(b.modelName())
        && a.signature().equals(b.signature())
        && a.blockTokens() == b.blockTokens()
        && a.layers().equals(b.layers());
  }

  /** Its blocks, at least one. */
  List<BlockFile> blocks() {
    return blocks;
  }
}
