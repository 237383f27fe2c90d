package dev.waymark.tools.replay;

import dev.waymark.layout.Growth;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;

/**
 * The first rows of a window tensor, its sinks, and behind them its newest ones. It has room for
 * two windows, so that the newest rows move to the front only once in a window.
 */
final class WindowBuffer extends TensorBuffer {
  private final int window;
  private final int sinks;
  private int capacityRows;

  /** The row behind the sinks. */
  private int firstRow;

  WindowBuffer(SyntheticState source, int tensor, TensorSpec spec, Growth.Window growth) {
    super(source, tensor, spec);
    this.window = growth.windowTokens();
    this.sinks = growth.sinkTokens();
  }

  @Override
  void begin(int tokens) {
    capacityRows = (int) Math.min(tokens, sinks + 2L * window);
    reserve(capacityRows);
    firstRow = sinks;
  }

  @Override
  TensorView restoring(int tokens) {
    firstRow = Math.max(sinks, tokens - window);
    return view(tokens);
  }

  @Override
  long firstMismatch(BlockSeeds seeds, int tokens) {
    int held = Math.min(sinks, tokens);
    long wrong = firstMismatch(seeds, 0, held);
    if (wrong >= 0) {
      return wrong;
    }
    wrong = firstMismatch(seeds, firstRow, Math.max(firstRow, tokens));
    return wrong < 0 ? wrong : spec.bytesOfRows(held) + wrong;
  }

  @Override
  TensorView advance(BlockSeeds seeds, int from, int stored, int to) {
    int keepFrom = Math.max(sinks, to - window);
    if (from < sinks) {
      fill(seeds, from, Math.min(sinks, to));
    }
    int fillFrom = Math.max(from, sinks);
    if (keepFrom >= from) {
      // Nothing of what it held will be asked for again.
      firstRow = keepFrom;
      fillFrom = keepFrom;
    } else if (sinks + (long) to - firstRow > capacityRows) {
      moveToFront(keepFrom, from);
    }
    if (fillFrom < to) {
      fill(seeds, fillFrom, to);
    }
    return view(to);
  }

  private long firstMismatch(BlockSeeds seeds, int from, int to) {
    return from == to
        ? -1
        : source.firstMismatch(tensor, seeds, from, to, buffer(), stridesFrom(from));
  }

  private void fill(BlockSeeds seeds, int from, int to) {
    source.fillRows(tensor, seeds, from, to, buffer(), stridesFrom(from));
  }

  private void moveToFront(int keepFrom, int end) {
    // The two places do not overlap: more than a window is dropped, and less than one is kept.
    long moved = (end - keepFrom) * inner;
    for (int outer = 0; outer < spec.outer(); outer++) {
      int source = stridesFrom(keepFrom).offsetBytes() + (int) (outer * lane());
      int target = (int) (sinks * inner + outer * lane());
      buffer().putBytes(target, buffer(), source, (int) moved);
    }
    firstRow = keepFrom;
  }

  /** All rows in order where none was dropped; else what stands behind the sinks is a full ring. */
  private TensorView view(int end) {
    if (firstRow == sinks || sinks == 0) {
      int first = sinks == 0 ? firstRow : 0;
      return TensorView.linear(memory(), 0, lane(), inner, first, end);
    }
    long slots = sinks + (long) end - firstRow;
    return TensorView.ring(memory(), 0, lane(), inner, slots, sinks, slots, end);
  }

  private Strides stridesFrom(int row) {
    long slot = row < sinks ? row : sinks + (long) row - firstRow;
    return new Strides((int) (slot * inner), lane(), inner);
  }

  private long lane() {
    return capacityRows * inner;
  }
}
