package dev.waymark.tools.replay;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.Locale;

/**
 * A layout, and how much smaller it became than what was asked for.
 *
 * @param full the layout at full size
 * @param layout the layout made smaller
 * @param askedFactor by how much it was to become smaller
 */
record ScaledLayout(Layout full, Layout layout, int askedFactor) {

  /**
   * By how much it became smaller: all that a block and a state after it hold, full over scaled.
   */
  double achievedFactor() {
    return ratio(blockBytes(full), blockBytes(layout));
  }

  /** Bytes a token of all tensors of rows. */
  static double rowBytesPerToken(Layout layout) {
    double bytes = 0;
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Rows rows) {
        bytes += (double) spec.bytesOfRows(1) / rows.tokensPerRow();
      }
    }
    return bytes;
  }

  /** Bytes a token of all tensors of a window. */
  static double windowBytesPerToken(Layout layout) {
    double bytes = 0;
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Window) {
        bytes += spec.bytesOfRows(1);
      }
    }
    return bytes;
  }

  /** Two lines: the factor, and what the layout holds now. */
  String summary() {
    return String.format(
        Locale.ROOT,
        "scale: 1/%,d asked, 1/%,.1f achieved (rows %s, window %s, fixed %s)%n"
            + "layout: %d tensors in blocks of %,d tokens; rows %,.1f B/token,"
            + " window %,.1f B/token, fixed %,d B/boundary",
        askedFactor,
        achievedFactor(),
        factor(rowBytesPerToken(full), rowBytesPerToken(layout)),
        factor(windowBytesPerToken(full), windowBytesPerToken(layout)),
        factor((double) full.fixedBytes(), (double) layout.fixedBytes()),
        layout.tensors().size(),
        layout.blockTokens(),
        rowBytesPerToken(layout),
        windowBytesPerToken(layout),
        layout.fixedBytes());
  }

  private static double blockBytes(Layout layout) {
    return (rowBytesPerToken(layout) + windowBytesPerToken(layout)) * layout.blockTokens()
        + layout.fixedBytes();
  }

  private static double ratio(double before, double after) {
    return after == 0 ? 1 : before / after;
  }

  private static String factor(double before, double after) {
    return before == 0 ? "none" : String.format(Locale.ROOT, "1/%,.1f", ratio(before, after));
  }
}
