package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.WaymarkException;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import org.junit.jupiter.api.Test;

/** A quota is met beside files that come and go, and one that was not met is not in force. */
class OtherFilesTest {
  private static final int TOKENS = 161;
  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);

  private Namespace fill(TestStore test, int prompts) {
    Namespace ns = test.store().namespace(model.identity, model.layout);
    for (int i = 0; i < prompts; i++) {
      model.store(ns, QuotaTest.prompt(i, TOKENS), PrefillPlan.tokens(TOKENS));
    }
    return ns;
  }

  @Test
  void aFileThatGoesWhileItIsCountedIsNotMissed() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").punchHoles(false).build())) {
      Namespace ns = fill(test, 4);
      test.directory().create("notes.txt").close();
      boolean[] gone = new boolean[1];
      test.directory()
          .setYieldPoints(
              call -> {
                if (call.equals(OperationKind.OPEN.name()) && !gone[0]) {
                  gone[0] = true;
                  test.directory().delete("notes.txt");
                  for (int i = 0; i < 4; i++) {
                    test.store()
                        .maintenance()
                        .deleteChain(ns.match(QuotaTest.prompt(i, TOKENS)), false);
                  }
                }
              });
      test.store().enforce();
      assertThat(gone[0]).isTrue();
      assertThat(test.store().stats().boundaries()).isZero();
    }
  }

  @Test
  void aQuotaThatCouldNotBeMetForAFaultIsNotInForce() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      fill(test, 190);
      test.disk.inject(Fault.ioError(OperationKind.FORCE).onFile("manifest-").sticky());
      assertThatThrownBy(() -> test.store().setQuota(16L << 20))
          .isInstanceOf(WaymarkException.class);
      test.disk.clearFaults();
      assertThat(test.store().stats().quotaBytes()).isEqualTo(64L << 20);
      test.store().setQuota(16L << 20);
      assertThat(test.store().stats().quotaBytes()).isEqualTo(16L << 20);
    }
  }
}
