package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.StoreIoException;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Holes are punched while writers and readers go on, and counted one by one. */
class PunchingTest {
  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);

  private static int[] prompt(int seed) {
    return QuotaTest.prompt(seed, 321);
  }

  private Namespace withDead(TestStore test) {
    Namespace ns = test.store().namespace(model.identity, model.layout);
    for (int i = 0; i < 12; i++) {
      model.store(ns, prompt(i), PrefillPlan.tokens(321));
    }
    return ns;
  }

  @Test
  void noLockOfTheSegmentsIsHeldWhileTheSystemPunches() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = withDead(test);
      List<Boolean> held = new ArrayList<>();
      test.directory()
          .setYieldPoints(
              label -> {
                if (label.equals(OperationKind.PUNCH.name())) {
                  held.add(Thread.holdsLock(test.store().engine().segments));
                }
              });
      for (int i = 0; i < 12; i += 2) {
        test.store().maintenance().deleteChain(ns.match(prompt(i)), false);
      }
      assertThat(held).isNotEmpty().doesNotContain(true);
    }
  }

  @Test
  void whatWasPunchedBeforeAFailureIsCountedOnceAndTheRestHasItsTurnAgain() {
    for (int call = 1; call <= 4; call++) {
      try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
        Namespace ns = withDead(test);
        test.disk.inject(Fault.ioError(OperationKind.PUNCH).onCall(call).sticky());
        assertThatThrownBy(
                () -> {
                  for (int i = 0; i < 12; i += 2) {
                    test.store().maintenance().deleteChain(ns.match(prompt(i)), false);
                  }
                })
            .isInstanceOf(StoreIoException.class);
        test.check();
        test.disk.clearFaults();
        test.store().runOnce();
        test.check();
        assertThat(test.store().stats().deadBytes()).isZero();
        assertThat(model.restoreAndCheck(ns.match(prompt(11)), prompt(11))).isEqualTo(320);
      }
    }
  }
}
