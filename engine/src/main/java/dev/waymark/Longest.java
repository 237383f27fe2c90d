package dev.waymark;

import java.util.function.IntToLongFunction;

/** The longest prompt whose cost fits. */
final class Longest {
  private Longest() {}

  /**
   * Tokens below {@code tokens} whose cost is at most {@code roomBytes}, found by halving: the most
   * where costs only rise with tokens, else some that fit. One walk along the prompt would not do:
   * where points go follows from the length, so a shorter prompt does not cost what the beginning
   * of a longer one does.
   */
  static int tokens(int tokens, IntToLongFunction costBytes, long roomBytes) {
    int fits = 0;
    int tooLong = tokens;
    while (fits + 1 < tooLong) {
      int middle = (fits + tooLong) >>> 1;
      if (costBytes.applyAsLong(middle) <= roomBytes) {
        fits = middle;
      } else {
        tooLong = middle;
      }
    }
    return fits;
  }
}
