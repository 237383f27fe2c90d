package dev.waymark.tools.replay;

import dev.waymark.layout.TensorSpec;

/**
 * Where rows stand in a buffer: row {@code from + i} of outer position {@code o} at {@code offset +
 * o * outerStride + i * rowStride}.
 *
 * @param offsetBytes of the first row of the first outer position
 * @param outerStrideBytes from one outer position to the next
 * @param rowStrideBytes from one row to the next
 */
record Strides(int offsetBytes, long outerStrideBytes, long rowStrideBytes) {

  /** Rows without gaps, in a buffer with room for {@code capacityRows} at each outer position. */
  static Strides packed(TensorSpec spec, int offsetBytes, long capacityRows) {
    return new Strides(offsetBytes, capacityRows * spec.innerBytes(), spec.innerBytes());
  }
}
