package dev.waymark.layout;

/**
 * The piece of a tensor that a part holds: rows {@code [rowFrom, rowFrom + rowCount)} of the outer
 * positions {@code [outerFrom, outerFrom + outerCount)}.
 */
public record PartRange(int outerFrom, int outerCount, long rowFrom, long rowCount) {
  /**
   * {@return raw bytes of the part}
   *
   * @param spec the tensor
   */
  public long rawBytes(TensorSpec spec) {
    return Math.multiplyExact(Math.multiplyExact(rowCount, spec.innerBytes()), (long) outerCount);
  }
}
