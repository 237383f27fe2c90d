package dev.waymark.tools.inspect;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.TreeSet;

/**
 * A layout in a few numbers.
 *
 * @param rowBytesPerToken bytes that a token adds to the rows, on average
 * @param windowBytes bytes of a full window with its sinks
 * @param windows the windows that there are, in tokens
 */
record LayoutSummary(
    int blockTokens,
    int rowTensors,
    int windowTensors,
    int fixedTensors,
    long rowBytesPerToken,
    long windowBytes,
    long fixedBytes,
    TreeSet<Integer> windows) {

  static LayoutSummary of(Layout layout) {
    int rows = 0;
    int window = 0;
    int fixed = 0;
    double perToken = 0;
    long windowBytes = 0;
    TreeSet<Integer> windows = new TreeSet<>();
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Rows r) {
        rows++;
        perToken += (double) spec.bytesOfRows(1) / r.tokensPerRow();
      } else if (spec.growth() instanceof Growth.Window w) {
        window++;
        windowBytes += spec.bytesOfRows((long) w.windowTokens() + w.sinkTokens());
        windows.add(w.windowTokens());
      } else {
        fixed++;
      }
    }
    return new LayoutSummary(
        layout.blockTokens(),
        rows,
        window,
        fixed,
        Math.round(perToken),
        windowBytes,
        layout.fixedBytes(),
        windows);
  }
}
