package dev.waymark.internal.retain;

/**
 * The lattice between a chain's root and its last point: cells of 2^k blocks, the cell {@code c}
 * holding the boundaries {@code (c * 2^k, (c + 1) * 2^k]}. Cells are nested, so that a wider
 * lattice keeps only points that a narrower one had kept.
 */
final class Lattice {
  private Lattice() {}

  /**
   * The narrowest cells whose points keep to the budget, if that leaves two cells before the last
   * point; else the widest that leave two. Narrower than two blocks only where the budget allows a
   * point at every boundary.
   *
   * @param blocks boundaries up to the last point
   * @param budgetPercent most that all points may cost, in percent of the chain's rows
   * @param widen exponents to add, as a write budget runs low
   */
  static int exponent(
      StateCosts costs,
      int blockTokens,
      int blocks,
      int budgetPercent,
      int windowTokens,
      int widen) {
    long rows = costs.rowBytes(0, (long) blocks * blockTokens);
    long budget = rows / 100 * budgetPercent + rows % 100 * budgetPercent / 100;
    int widest = blocks < 2 ? 0 : 31 - Integer.numberOfLeadingZeros(blocks / 2);
    int exponent = 0;
    while (exponent < widest && cost(costs, blockTokens, blocks, exponent, windowTokens) > budget) {
      exponent++;
    }
    if (exponent == 0 && cost(costs, blockTokens, blocks, 0, windowTokens) > budget) {
      exponent = 1;
    }
    return Math.min(30, exponent + widen);
  }

  private static long cost(
      StateCosts costs, int blockTokens, int blocks, int exponent, int windowTokens) {
    long points = (blocks >> exponent) + 1L;
    long spacing = Math.min((long) blockTokens << exponent, Math.max(windowTokens, 1));
    // A point's delta holds what the one before it does not cover.
    long to = Math.max(windowTokens, spacing) * 2L;
    long each = costs.fixedBytes() + costs.windowBytes(to - spacing, to);
    return points * each;
  }

  static int cellOf(int block, int exponent) {
    return (block - 1) >> exponent;
  }

  static boolean endsCell(int block, int exponent) {
    return (block & ((1 << exponent) - 1)) == 0;
  }
}
