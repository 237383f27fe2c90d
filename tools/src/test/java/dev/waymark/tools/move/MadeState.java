package dev.waymark.tools.move;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.layout.DType;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A state that follows from token ids: every byte of it can be said without a store. */
final class MadeState {
  private final Layout layout;

  MadeState(Layout layout) {
    this.layout = layout;
  }

  /** Rows of a token and of four, a window with sinks and one without, and fixed state. */
  static Layout mixed(int blockTokens) {
    return Layout.of(
        blockTokens,
        TensorSpec.rows("layer_0_keys", DType.BF16, 1, 1, 2, TensorSpec.TOKEN_AXIS, 3),
        TensorSpec.window("layer_1_ring", DType.BF16, 12, 3, 1, 2, TensorSpec.TOKEN_AXIS, 2),
        TensorSpec.window("layer_2_ring", DType.U8, 5, 0, TensorSpec.TOKEN_AXIS, 7),
        TensorSpec.fixed("layer_3_state", DType.F32, 2, 4),
        TensorSpec.rows("layer_4_pool", DType.F32, 4, TensorSpec.TOKEN_AXIS, 2),
        TensorSpec.fixed("layer_5_none", DType.F32, 0, 4));
  }

  /** A tensor's bytes after so many tokens, as they lie in an exported file. */
  byte[] packed(TensorSpec spec, int[] ids, int tokens) {
    int rows = (int) PackedState.rows(spec, tokens);
    ByteBuffer bytes = ByteBuffer.allocate((int) spec.bytesOfRows(rows));
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    for (int outer = 0; outer < spec.outer(); outer++) {
      for (int i = 0; i < rows; i++) {
        putRow(bytes, spec, outer, rowAt(spec, i, rows, tokens), ids, tokens);
      }
    }
    return bytes.array();
  }

  private static int rowAt(TensorSpec spec, int place, int rows, int tokens) {
    if (spec.growth() instanceof Growth.Window window && place >= window.sinkTokens()) {
      return tokens - rows + place;
    }
    return place;
  }

  /** Rows of a block alone. */
  byte[] rows(TensorSpec spec, int[] ids, int fromTokens, int tokens) {
    long from = spec.rowsAfter(fromTokens);
    long to = spec.rowsAfter(tokens);
    ByteBuffer bytes = ByteBuffer.allocate((int) spec.bytesOfRows(to - from));
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    for (int outer = 0; outer < spec.outer(); outer++) {
      for (long row = from; row < to; row++) {
        putRow(bytes, spec, outer, (int) row, ids, tokens);
      }
    }
    return bytes.array();
  }

  /** A ring's slots after so many tokens. */
  byte[] ring(TensorSpec spec, int[] ids, int tokens, int slots, int sinks) {
    ByteBuffer bytes = ByteBuffer.allocate((int) spec.bytesOfRows(Math.min(slots, tokens)));
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    for (int outer = 0; outer < spec.outer(); outer++) {
      for (int slot = 0; slot < Math.min(slots, tokens); slot++) {
        int row = slot;
        if (tokens > slots && slot >= sinks) {
          int ringRows = slots - sinks;
          row = sinks + (tokens - 1 - sinks - slot + sinks) / ringRows * ringRows + slot - sinks;
        }
        putRow(bytes, spec, outer, row, ids, tokens);
      }
    }
    return bytes.array();
  }

  private void putRow(
      ByteBuffer bytes, TensorSpec spec, int outer, int row, int[] ids, int tokens) {
    int tokensPerRow = spec.growth() instanceof Growth.Rows r ? r.tokensPerRow() : 1;
    int id = spec.isFixed() ? Arrays.hashCode(Arrays.copyOf(ids, tokens)) : ids[row * tokensPerRow];
    int seed = layout.indexOf(spec.name()) * 31 + outer * 17 + row * 7 + id;
    if (spec.dtype() == DType.F32) {
      for (int i = 0; i < spec.innerBytes() / 4; i++) {
        bytes.putFloat((seed * 13 + i) % 1_000 / 8f);
      }
    } else {
      for (int i = 0; i < spec.innerBytes(); i++) {
        bytes.put((byte) (seed * 5 + i));
      }
    }
  }

  /** Views of the whole state after so many tokens. */
  StateViews views(int[] ids, int tokens) {
    StateViews.Builder views = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      Memory memory = Memory.of(ByteBuffer.wrap(packed(spec, ids, tokens)));
      views.put(spec, PackedState.view(spec, memory, tokens));
    }
    return views.build();
  }

  /** Stores a prompt of whole blocks, block by block. */
  void store(Namespace namespace, int[] ids, RestorePolicy policy) {
    PrefillPlan plan = PrefillPlan.tokens(ids.length + 1).policy(policy);
    try (PrefillSession session = namespace.prefill(namespace.match(ids), plan)) {
      for (int at = session.tokens(); at < ids.length; at += layout.blockTokens()) {
        int to = at + layout.blockTokens();
        session.append(Arrays.copyOfRange(ids, at, to), views(ids, to));
      }
      session.promptComplete();
    }
  }
}
