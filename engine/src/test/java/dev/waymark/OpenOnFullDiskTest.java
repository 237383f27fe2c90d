package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DiskFullException;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.layout.AbortMode;
import org.junit.jupiter.api.Test;

/**
 * A store opens on a full disk with what it can give back itself, and otherwise says what is
 * missing and is as it was.
 */
class OpenOnFullDiskTest {
  private static final int TOKENS = 16 * 20 + 1;

  private final SampleModel model = new SampleModel("m", 256, 0, 0);
  private final int[] whole = QuotaTest.prompt(1, TOKENS);
  private final int[] cutOff = QuotaTest.prompt(2, TOKENS);

  private void fill(TestStore test) {
    test.directory().setCapacityBytes(test.directory().allocatedBytes());
  }

  private void store(TestStore test) {
    model.store(
        test.store().namespace(model.identity, model.layout), whole, PrefillPlan.tokens(TOKENS));
    test.store().flush();
  }

  private void requireWhole(TestStore test) {
    Namespace ns = test.store().namespace(model.identity, model.layout);
    assertThat(model.restoreAndCheck(ns.match(whole), whole)).isEqualTo(TOKENS - 1);
    assertThat(ns.match(cutOff).storedTokens()).isZero();
  }

  @Test
  void whatAKilledProcessHadSetAsideMakesRoom() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      store(test);
      Namespace ns = test.store().namespace(model.identity, model.layout);
      PrefillSession session =
          ns.prefill(ns.match(cutOff), PrefillPlan.tokens(TOKENS).onAbort(AbortMode.DISCARD));
      model.appendRest(session, cutOff, TOKENS / 2 / 16 * 16);
      test.store().flush();
      assertThat(test.store().stats().reservedBytes()).isGreaterThan(ManifestLog.RESERVE_BYTES);
      fill(test);
      test.killAndReopen();
      assertThat(test.store().recovery().sessionsDiscarded()).isEqualTo(1);
      requireWhole(test);
    }
  }

  @Test
  void whatWasClosedCleanlyNeedsNoRoom() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      store(test);
      test.reopen();
      fill(test);
      test.killAndReopen();
      requireWhole(test);
    }
  }

  @Test
  void whereNothingCanBeGivenBackItSaysSo() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      store(test);
      test.reopen();
      Namespace ns = test.store().namespace(model.identity, model.layout);
      ns.keep(ns.match(whole), "since it was closed");
      fill(test);
      assertThatThrownBy(test::killAndReopen)
          .isInstanceOf(DiskFullException.class)
          .hasMessageContaining("manifest-");
      test.directory().setCapacityBytes(1L << 30);
      test.killAndReopen();
      requireWhole(test);
    }
  }
}
