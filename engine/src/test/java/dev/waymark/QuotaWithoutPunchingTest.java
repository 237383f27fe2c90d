package dev.waymark;

/** The same where bytes come back only with whole segments. */
class QuotaWithoutPunchingTest extends QuotaTest {
  @Override
  boolean isPunching() {
    return false;
  }

  /** The first lies among what goes: a cold remainder is dropped rather than copied. */
  @Override
  int oldestThatStays() {
    return 2;
  }
}
