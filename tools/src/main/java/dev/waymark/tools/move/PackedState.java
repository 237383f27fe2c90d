package dev.waymark.tools.move;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Memory;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.util.ArrayList;
import java.util.List;

/**
 * How the state at a boundary lies in a file: of each tensor the rows that a restore there gives
 * back, in token order and without gaps; of a window, its sinks first.
 */
final class PackedState {
  private PackedState() {}

  /** Rows of a tensor; its elements where it is fixed. */
  static long rows(TensorSpec spec, int tokens) {
    if (spec.growth() instanceof Growth.Window window) {
      return Math.min(tokens, (long) window.windowTokens() + window.sinkTokens());
    }
    return spec.rowsAfter(tokens);
  }

  /** The shape of that, for a file that knows no token axis. */
  static List<Long> shape(TensorSpec spec, long rows) {
    List<Long> dims = new ArrayList<>(spec.shape());
    dims.replaceAll(dim -> dim == TensorSpec.TOKEN_AXIS ? rows : dim);
    return dims;
  }

  /** Bytes of it. */
  static long bytes(TensorSpec spec, int tokens) {
    return spec.bytesOfRows(rows(spec, tokens));
  }

  /** A view of it. */
  static TensorView view(TensorSpec spec, Memory memory, int tokens) {
    return view(spec, memory, rows(spec, tokens), tokens);
  }

  /**
   * A view of rows of which a file has more than there are up to the boundary, since its state
   * stands behind it.
   *
   * @param fileRows rows at each outer position in the file
   */
  static TensorView view(TensorSpec spec, Memory memory, long fileRows, int tokens) {
    if (spec.isFixed()) {
      return TensorView.value(spec, memory, 0);
    }
    long lane = fileRows * spec.innerBytes();
    if (spec.growth() instanceof Growth.Window window) {
      long sinks = window.sinkTokens();
      if (sinks > 0 && fileRows > sinks && tokens >= fileRows) {
        return TensorView.ring(
            memory, 0, lane, spec.innerBytes(), fileRows, sinks, fileRows, tokens);
      }
      long first = Math.max(0, tokens - fileRows);
      return TensorView.linear(memory, 0, lane, spec.innerBytes(), first, tokens);
    }
    return TensorView.linear(memory, 0, lane, spec.innerBytes(), 0, spec.rowsAfter(tokens));
  }
}
