package dev.waymark.tools.replay;

import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;

/** All rows of the prefix, in order. */
final class RowsBuffer extends TensorBuffer {
  private long lane;

  RowsBuffer(SyntheticState source, int tensor, TensorSpec spec) {
    super(source, tensor, spec);
  }

  @Override
  void begin(int tokens) {
    long rows = spec.rowsAfter(tokens);
    reserve(rows);
    lane = rows * inner;
  }

  @Override
  TensorView restoring(int tokens) {
    return TensorView.linear(memory(), 0, lane, inner, 0, spec.rowsAfter(tokens));
  }

  @Override
  long firstMismatch(BlockSeeds seeds, int tokens) {
    Strides strides = new Strides(0, lane, inner);
    return source.firstMismatch(tensor, seeds, 0, spec.rowsAfter(tokens), buffer(), strides);
  }

  @Override
  TensorView advance(BlockSeeds seeds, int from, int stored, int to) {
    long first = spec.rowsAfter(Math.min(to, Math.max(from, stored)));
    long end = spec.rowsAfter(to);
    Strides strides = new Strides((int) (first * inner), lane, inner);
    source.fillRows(tensor, seeds, first, end, buffer(), strides);
    return TensorView.linear(memory(), first * inner, lane, inner, first, end);
  }
}
