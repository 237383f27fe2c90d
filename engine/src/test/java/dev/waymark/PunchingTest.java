package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.StoreIoException;
import dev.waymark.layout.AbortMode;
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
        for (int i = 0; i < 12; i += 2) {
          test.store().maintenance().deleteChain(ns.match(prompt(i)), false);
        }
        assertThat(ns.match(prompt(10)).storedTokens()).isZero();
        assertThat(test.store().stats().deadBytes()).isPositive();
        test.store().runOnce();
        test.check();
        test.disk.clearFaults();
        test.store().runOnce();
        test.check();
        assertThat(test.store().stats().deadBytes()).isZero();
        assertThat(model.restoreAndCheck(ns.match(prompt(11)), prompt(11))).isEqualTo(320);
      }
    }
  }

  @Test
  void oneThatFailsKeepsNothingElseFromGoingOn() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = withDead(test);
      test.disk.inject(Fault.ioError(OperationKind.PUNCH).sticky());
      test.store().maintenance().deleteChain(ns.match(prompt(0)), false);
      long dead = test.store().stats().deadBytes();
      PrefillSession discarded =
          ns.prefill(ns.match(prompt(20)), PrefillPlan.tokens(321).onAbort(AbortMode.DISCARD));
      model.appendRest(discarded, prompt(20), 321);
      discarded.close();
      model.store(ns, prompt(21), PrefillPlan.tokens(321).durability(Durability.NONE));
      test.store().runOnce();
      assertThat(test.store().engine().publisher.hasPending()).isFalse();
      assertThat(test.store().stats().deadBytes()).isGreaterThan(dead);
      test.check();
      test.disk.clearFaults();
      test.store().runOnce();
      assertThat(test.store().stats().deadBytes()).isZero();
    }
  }

  @Test
  void nothingIsEvictedForRoomThatDoesNotComeBack() {
    try (TestStore test = new TestStore(TestStore.options("16MiB").build())) {
      Namespace ns = withDead(test);
      int at = 100;
      while (test.store().stats().evictedBoundaries() == 0) {
        model.store(ns, prompt(at++), PrefillPlan.tokens(321));
      }
      test.disk.inject(Fault.ioError(OperationKind.PUNCH).sticky());
      long before = test.store().stats().boundaries();
      for (int i = 0; i < 40; i++) {
        int[] tokens = prompt(at++);
        try {
          model.store(ns, tokens, PrefillPlan.tokens(321));
        } catch (StoreIoException e) {
          continue;
        }
      }
      assertThat(test.store().stats().boundaries()).isGreaterThan(before - 3 * 20);
      test.check();
      test.disk.clearFaults();
      int[] last = prompt(at);
      model.store(ns, last, PrefillPlan.tokens(321));
      assertThat(model.restoreAndCheck(ns.match(last), last)).isEqualTo(320);
    }
  }
}
