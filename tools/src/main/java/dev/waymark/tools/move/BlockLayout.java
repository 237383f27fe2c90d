package dev.waymark.tools.move;

import dev.waymark.layout.DType;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The layout that blocks of one model have in common. A block need not hold every state: servers
 * write a stand-in of one element for what can only be stored at a later boundary, and mark what
 * there is none of. So a state's shape is that of the block which holds most of it.
 */
record BlockLayout(Layout layout, ModelIdentity identity) {
  private static final int MOST_VALUE = 4_096;

  /** How a state grows: as its class says, and where that is not known as its shape says. */
  static CacheKind growth(BlockState state, BlockFile block) {
    List<Long> shape = state.shape();
    boolean tokens = shape != null && shape.size() == 4 && shape.get(0) == 1;
    if (state.kind() == CacheKind.WINDOW) {
      return tokens ? CacheKind.WINDOW : CacheKind.FIXED;
    }
    if (state.kind() == CacheKind.FIXED || !tokens) {
      return CacheKind.FIXED;
    }
    return shape.get(2) == block.tokenCount() ? CacheKind.ROWS : CacheKind.FIXED;
  }

  /** The layout of blocks of one group. */
  static BlockLayout of(List<BlockFile> blocks) {
    Map<String, TensorSpec> specs = new LinkedHashMap<>();
    for (BlockFile block : blocks) {
      for (BlockState state : block.states()) {
        TensorSpec spec = spec(state, block);
        TensorSpec there = specs.get(state.name());
        if (spec != null && (there == null || isMore(spec, there))) {
          specs.put(state.name(), spec);
        }
      }
    }
    // In the order of the layers, which is that of any block's states.
    List<TensorSpec> ordered = new ArrayList<>();
    for (BlockState state : blocks.get(0).states()) {
      if (specs.containsKey(state.name())) {
        ordered.add(specs.get(state.name()));
      }
    }
    specs.forEach(
        (name, spec) -> {
          if (!ordered.contains(spec)) {
            ordered.add(spec);
          }
        });
    return new BlockLayout(
        Layout.of(blocks.get(0).blockTokens(), ordered), identity(blocks.get(0)));
  }

  private static ModelIdentity identity(BlockFile block) {
    return ModelIdentity.builder()
        .weights(cut(block.modelName()))
        .engine("imported blocks, version 3")
        .property("cache_signature", cut(block.signature()))
        .build();
  }

  private static String cut(String text) {
    return text.length() <= MOST_VALUE ? text : text.substring(0, MOST_VALUE);
  }

  /** What the block shows of a state; null where it shows nothing. */
  private static TensorSpec spec(BlockState state, BlockFile block) {
    List<Long> shape = state.shape();
    if (shape == null) {
      return null;
    }
    DType dtype = state.tensor() == null ? DType.F32 : state.tensor().dtype();
    boolean rows = state.kind() == CacheKind.ROWS || state.kind() == CacheKind.WINDOW;
    if (rows && state.tensor() != null && growth(state, block) == CacheKind.FIXED) {
      return null; // a stand-in
    }
    return switch (growth(state, block)) {
      case ROWS ->
          TensorSpec.rows(
              state.name(), dtype, 1, 1, shape.get(1), TensorSpec.TOKEN_AXIS, shape.get(3));
      case WINDOW ->
          TensorSpec.window(
              state.name(),
              dtype,
              (int) (state.ring().maxRows() - state.ring().keep()),
              (int) state.ring().keep(),
              1,
              shape.get(1),
              TensorSpec.TOKEN_AXIS,
              shape.get(3));
      default ->
          TensorSpec.fixed(
              state.name(), dtype, shape.stream().mapToLong(Long::longValue).toArray());
    };
  }

  /** Rows and windows are more than a stand-in for them; of fixed states, the larger. */
  private static boolean isMore(TensorSpec spec, TensorSpec there) {
    if (spec.growth() instanceof Growth.Fixed && there.growth() instanceof Growth.Fixed) {
      return spec.bytesOfRows(spec.rowsAfter(0)) > there.bytesOfRows(there.rowsAfter(0));
    }
    return there.growth() instanceof Growth.Fixed;
  }
}
