package dev.waymark;

/** The same where bytes come back only with whole segments. */
class QuotaWithoutPunchingTest extends QuotaTest {
  @Override
  boolean isPunching() {
    return false;
  }
}
