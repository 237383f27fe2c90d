package dev.waymark.tools.move;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Views of what a block holds, at its place in a chain: rings are undone by their views. */
final class BlockViews {
  private final Layout layout;
  private final SafetensorsFile file;
  private final Map<String, BlockState> states = new HashMap<>();
  private final int fromTokens;
  private final int tokens;

  /**
   * What there is of a block.
   *
   * @param views of what it holds; null where not even its rows are whole
   * @param point whether they are enough for a restore point
   */
  record Found(StateViews views, boolean point) {}

  BlockViews(Layout layout, SafetensorsFile file, BlockFile block, int fromTokens) {
    this.layout = layout;
    this.file = file;
    this.fromTokens = fromTokens;
    this.tokens = fromTokens + block.tokenCount();
    block.states().forEach(state -> states.put(state.name(), state));
  }

  /**
   * Looks at it.
   *
   * @param withState whether its place is known, so that windows and fixed state mean something
   */
  Found find(boolean withState) throws IOException {
    StateViews.Builder views = StateViews.builder();
    boolean point = withState;
    for (TensorSpec spec : layout.tensors()) {
      BlockState state = states.get(spec.name());
      TensorView view = null;
      if (spec.growth() instanceof Growth.Rows) {
        view = rows(spec, state);
        if (view == null && spec.bytesOfRows(tokens - fromTokens) > 0) {
          return new Found(null, false);
        }
      } else if (spec.growth() instanceof Growth.Window window) {
        view = window(spec, window, state);
        boolean whole =
            view != null && view.holds(Math.max(window.sinkTokens(), from(window)), tokens);
        if (view == null && fromTokens < window.sinkTokens()) {
          return new Found(null, false);
        }
        point &= whole;
      } else if (withState) {
        view = fixed(spec, state);
        point &= view != null || spec.bytesOfRows(spec.rowsAfter(0)) == 0;
      }
      if (view != null) {
        views.put(spec, view);
      }
    }
    return new Found(views.build(), point);
  }

  private long from(Growth.Window window) {
    return Math.min(tokens, Math.max(0, (long) tokens - window.windowTokens()));
  }

  private TensorView rows(TensorSpec spec, BlockState state) throws IOException {
    if (state == null || state.tensor() == null || !hasShape(spec, state, tokens - fromTokens)) {
      return null;
    }
    long inner = spec.innerBytes();
    return TensorView.linear(
        memory(state), 0, (tokens - fromTokens) * inner, inner, fromTokens, tokens);
  }

  /** A ring says by its index where its oldest row is; one that is not full has none to say. */
  private TensorView window(TensorSpec spec, Growth.Window window, BlockState state)
      throws IOException {
    if (state == null || state.tensor() == null || state.tensor().shape().size() != 4) {
      return null;
    }
    long slots = state.tensor().shape().get(2);
    if (!hasShape(spec, state, slots) || state.ring().offset() != tokens || slots == 0) {
      return null;
    }
    long inner = spec.innerBytes();
    long lane = slots * inner;
    if (tokens <= slots) {
      return TensorView.linear(memory(state), 0, lane, inner, 0, tokens);
    }
    long sinks = window.sinkTokens();
    long index = state.ring().index();
    if (slots <= sinks || index < sinks || index > slots) {
      return null;
    }
    return TensorView.ring(memory(state), 0, lane, inner, slots, sinks, index, tokens);
  }

  private TensorView fixed(TensorSpec spec, BlockState state) throws IOException {
    if (state == null
        || state.tensor() == null
        || !state.tensor().shape().equals(spec.shape())
        || state.tensor().dtype() != spec.dtype()) {
      return null;
    }
    return TensorView.value(spec, memory(state), 0);
  }

  private static boolean hasShape(TensorSpec spec, BlockState state, long rows) {
    List<Long> expected = PackedState.shape(spec, rows);
    return state.tensor().shape().equals(expected) && state.tensor().dtype() == spec.dtype();
  }

  private Memory memory(BlockState state) throws IOException {
    return Memory.of(ByteBuffer.wrap(file.read(state.tensor())));
  }
}
