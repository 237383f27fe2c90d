package dev.waymark.tools.replay;

import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;

/** The one value of a tensor that is wholly replaced as tokens pass. */
final class FixedBuffer extends TensorBuffer {
  FixedBuffer(SyntheticState source, int tensor, TensorSpec spec) {
    super(source, tensor, spec);
  }

  @Override
  void begin(int tokens) {
    reserve(spec.rowsAfter(0));
  }

  @Override
  TensorView restoring(int tokens) {
    return TensorView.value(spec, memory(), 0);
  }

  @Override
  long firstMismatch(BlockSeeds seeds, int tokens) {
    return source.firstMismatchInFixed(tensor, seeds, source.blocksOf(tokens), buffer(), 0);
  }

  @Override
  TensorView advance(BlockSeeds seeds, int from, int stored, int to) {
    source.fillFixed(tensor, seeds, source.blocksOf(to), buffer(), 0);
    return TensorView.value(spec, memory(), 0);
  }
}
