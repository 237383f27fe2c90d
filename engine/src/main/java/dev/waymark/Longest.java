package dev.waymark;

import java.util.function.IntPredicate;

/** The longest prompt that fits. */
final class Longest {
  private Longest() {}

  /**
   * Tokens below {@code tokens} that fit, found by halving: the most where costs only rise with
   * tokens, else some that fit. One walk along the prompt would not do: where points go follows
   * from the length, so a shorter prompt does not cost what the beginning of a longer one does.
   */
  static int tokens(int tokens, IntPredicate fits) {
    int fitting = 0;
    int tooLong = tokens;
    while (fitting + 1 < tooLong) {
      int middle = (fitting + tooLong) >>> 1;
      if (fits.test(middle)) {
        fitting = middle;
      } else {
        tooLong = middle;
      }
    }
    return fitting;
  }
}
