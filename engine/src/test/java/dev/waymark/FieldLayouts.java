package dev.waymark;

import dev.waymark.layout.DType;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * State of models as they are served, made smaller: fewer layers, heads and widths, so that every
 * size is the real one divided by the same number.
 */
final class FieldLayouts {
  private static final long AXIS = TensorSpec.TOKEN_AXIS;

  private FieldLayouts() {}

  /** 16 attention layers of 4 x 256, 48 recurrent ones: a 64th. */
  static Layout denseHybrid64(int block) {
    return hybrid(block, 1, 1, 256, 3, 12, 2_560);
  }

  /** 12 attention layers of 2 x 256, 36 recurrent ones: a 192nd. */
  static Layout sparseHybrid192(int block) {
    return hybrid(block, 1, 1, 32, 3, 3, 640);
  }

  /** A hybrid small enough to compare every byte of. */
  static Layout tinyHybrid(int block) {
    List<TensorSpec> tensors = new ArrayList<>();
    attention(tensors, 2, 1, 2);
    tensors.add(TensorSpec.fixed("state.0", DType.F32, 2, 4, 4));
    tensors.add(TensorSpec.fixed("conv.0", DType.BF16, 3, 8));
    tensors.add(TensorSpec.fixed("state.1", DType.F32, 2, 4, 4));
    tensors.add(TensorSpec.fixed("conv.1", DType.BF16, 3, 8));
    return Layout.of(block, tensors);
  }

  private static Layout hybrid(
      int block, int attention, int heads, int width, int recurrent, int stateHeads, int conv) {
    List<TensorSpec> tensors = new ArrayList<>();
    attention(tensors, attention, heads, width);
    for (int i = 0; i < recurrent; i++) {
      tensors.add(TensorSpec.fixed("state." + i, DType.F32, stateHeads, 128, 128));
      tensors.add(TensorSpec.fixed("conv." + i, DType.BF16, 3, conv));
    }
    return Layout.of(block, tensors);
  }

  private static void attention(List<TensorSpec> into, int layers, int heads, int width) {
    for (int i = 0; i < layers; i++) {
      into.add(TensorSpec.rows("k." + i, DType.BF16, 1, heads, AXIS, width));
      into.add(TensorSpec.rows("v." + i, DType.BF16, 1, heads, AXIS, width));
    }
  }

  /** 10 attention layers and 50 with a window of 1,024, of {@code heads} x {@code width}. */
  static Layout sliding(int block, int heads, int width) {
    List<TensorSpec> tensors = new ArrayList<>();
    attention(tensors, 10, heads, width);
    for (int i = 0; i < 50; i++) {
      tensors.add(TensorSpec.window("wk." + i, DType.BF16, 1_024, 0, heads, AXIS, width));
      tensors.add(TensorSpec.window("wv." + i, DType.BF16, 1_024, 0, heads, AXIS, width));
    }
    return Layout.of(block, tensors);
  }

  /** 20 attention layers of 8 x 256: a 512th. */
  static Layout dense512(int block) {
    List<TensorSpec> tensors = new ArrayList<>();
    attention(tensors, 20, 1, 4);
    return Layout.of(block, tensors);
  }

  /** Rows at 4 and at 128 tokens a row, a window of 640, a carry: a 128th of the width. */
  static Layout pooled(int block) {
    return Layout.of(
        block,
        TensorSpec.rows("p4", DType.BF16, 4, 1, AXIS, 4),
        TensorSpec.rows("p128", DType.BF16, 128, 1, AXIS, 4),
        TensorSpec.window("w", DType.BF16, 640, 0, 1, AXIS, 4),
        TensorSpec.fixed("carry", DType.F32, 128));
  }

  /** State of zeros after {@code end} tokens, of which those from {@code from} on are new. */
  static StateViews zeros(Layout layout, int from, int end) {
    StateViews.Builder views = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      long first = spec.isFixed() ? 0 : spec.rowsAfter(from);
      if (spec.growth() instanceof Growth.Window window) {
        first = window.sinkTokens() > 0 ? 0 : Math.max(0, end - window.windowTokens());
      }
      long rows = spec.rowsAfter(end) - first;
      ByteBuffer buffer = ByteBuffer.allocate(Math.toIntExact(rows * spec.innerBytes()));
      // All outer positions look at the same bytes.
      views.put(
          spec,
          TensorView.linear(
              Memory.of(buffer), 0, 0, spec.innerBytes(), first, spec.rowsAfter(end)));
    }
    return views.build();
  }

  /** Appends zeros up to {@code to} tokens, block by block. */
  static void appendZeros(PrefillSession session, Layout layout, int[] prompt, int to) {
    int block = layout.blockTokens();
    while (session.tokens() + block <= to) {
      int from = session.tokens();
      int end = from + block;
      session.append(java.util.Arrays.copyOfRange(prompt, from, end), zeros(layout, from, end));
    }
  }
}
