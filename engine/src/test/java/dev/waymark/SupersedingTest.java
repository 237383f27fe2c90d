package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DurabilityLostException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A point gives way only to one that stays: one that is durable, and nobody's to take back. */
class SupersedingTest {
  private static final int BLOCK = SampleModel.BLOCK;

  /** Where the point is that was durable before. */
  private static final int DURABLE = 3 * BLOCK;

  private static final int REACHED = 6 * BLOCK;

  private final SampleModel model = new SampleModel("m", 4 << 10, 64, 256);
  private final int[] tokens = QuotaTest.prompt(3, 20 * BLOCK);

  static Stream<Arguments> policies() {
    return Stream.of(
            RestorePolicy.LAST,
            RestorePolicy.DEFAULT,
            RestorePolicy.lattice(1),
            RestorePolicy.stride(4))
        .flatMap(
            policy -> Stream.of(Durability.values()).map(durable -> Arguments.of(policy, durable)));
  }

  private static TestStore open() {
    return new TestStore(TestStore.options("64MiB").build());
  }

  private Namespace namespace(TestStore test) {
    return test.store().namespace(model.identity, model.layout);
  }

  private PrefillSession prefill(TestStore test, PrefillPlan plan) {
    return namespace(test).prefill(namespace(test).match(tokens), plan);
  }

  /** A first turn, complete and durable. */
  private void storeFirstTurn(TestStore test, RestorePolicy policy) {
    PrefillPlan plan = PrefillPlan.tokens(DURABLE + 1).policy(policy).durability(Durability.COMMIT);
    try (PrefillSession session = prefill(test, plan)) {
      model.appendRest(session, tokens, DURABLE);
      session.promptComplete();
    }
    test.store().flush();
    requireRestorable(test, DURABLE);
  }

  private void requireRestorable(TestStore test, int to) {
    assertThat(model.restoreAndCheck(namespace(test).match(tokens), tokens)).isEqualTo(to);
    test.check();
  }

  /** Nothing of what is written into delta segments can be saved, wherever it is moved. */
  private void failForces(TestStore test) {
    test.directory().inject(Fault.ioError(OperationKind.FORCE).onFile("delta-").times(3));
  }

  @ParameterizedTest
  @MethodSource("policies")
  void notToOneThatIsLostAsThePromptIsComplete(RestorePolicy policy, Durability durability) {
    try (TestStore test = open()) {
      storeFirstTurn(test, policy);
      PrefillPlan plan = PrefillPlan.tokens(REACHED + 1).policy(policy).durability(Durability.NONE);
      PrefillSession session = prefill(test, plan.durability(nothingYet(durability)));
      model.appendRest(session, tokens, REACHED);
      failForces(test);
      if (durability == Durability.NONE) {
        session.promptComplete();
        assertThatThrownBy(test.store()::flush).isInstanceOf(DurabilityLostException.class);
      } else {
        assertThatThrownBy(session::promptComplete).isInstanceOf(DurabilityLostException.class);
      }
      session.close();
      requireRestorable(test, DURABLE);
      test.killAndReopen();
      requireRestorable(test, DURABLE);
    }
  }

  /** What COMMIT stores is durable before the prompt is complete. */
  private static Durability nothingYet(Durability durability) {
    return durability == Durability.COMMIT ? Durability.GROUP : durability;
  }

  @ParameterizedTest
  @MethodSource("policies")
  void notToOneThatIsLostAsTheSessionCloses(RestorePolicy policy, Durability durability) {
    try (TestStore test = open()) {
      PrefillPlan plan = PrefillPlan.tokens(REACHED + 1).policy(policy).durability(durability);
      PrefillSession session = prefill(test, plan);
      model.appendRest(session, tokens, REACHED);
      session.promptComplete();
      test.store().flush();
      model.appendRest(session, tokens, REACHED + BLOCK);
      test.store().flush();
      failForces(test);
      if (durability == Durability.NONE) {
        session.close();
        assertThatThrownBy(test.store()::flush).isInstanceOf(DurabilityLostException.class);
      } else {
        assertThatThrownBy(session::close).isInstanceOf(DurabilityLostException.class);
      }
      requireRestorable(test, REACHED);
      test.killAndReopen();
      requireRestorable(test, REACHED);
    }
  }

  @ParameterizedTest
  @MethodSource("policies")
  void notToOneThatAnotherSessionTakesBack(RestorePolicy policy, Durability durability) {
    for (AbortMode otherMode : AbortMode.values()) {
      for (boolean dies : List.of(true, false)) {
        try (TestStore test = open()) {
          storeFirstTurn(test, policy);
          // It has no point of its own: the end of what it was to be is far.
          PrefillPlan plan =
              PrefillPlan.tokens(tokens.length).policy(RestorePolicy.LAST).durability(durability);
          PrefillSession session = prefill(test, plan);
          model.appendRest(session, tokens, REACHED);
          PrefillSession other =
              prefill(
                  test,
                  PrefillPlan.tokens(REACHED + 1)
                      .policy(RestorePolicy.EVERY)
                      .onAbort(otherMode)
                      .durability(durability));
          session.promptComplete();
          model.appendRest(other, tokens, REACHED);
          session.close();
          test.store().flush();
          requireRestorable(test, REACHED);
          if (!dies) {
            other.abort(AbortMode.DISCARD);
          }
          test.killAndReopen();
          boolean takenBack = !dies || otherMode == AbortMode.DISCARD;
          requireRestorable(test, takenBack ? DURABLE : REACHED);
        }
      }
    }
  }

  /** As before: what is durable is thinned, and what is not goes by the next turn. */
  @ParameterizedTest
  @MethodSource("policies")
  void toOneThatIsDurable(RestorePolicy policy, Durability durability) {
    try (TestStore test = open()) {
      storeFirstTurn(test, RestorePolicy.LAST);
      PrefillPlan plan =
          PrefillPlan.tokens(REACHED + 1).policy(RestorePolicy.LAST).durability(durability);
      try (PrefillSession session = prefill(test, plan)) {
        model.appendRest(session, tokens, REACHED);
        session.promptComplete();
        boolean waits = durability == Durability.NONE;
        assertThat(namespace(test).match(tokens).points())
            .containsExactly(waits ? new int[] {DURABLE, REACHED} : new int[] {REACHED});
        test.store().flush();
      }
      assertThat(namespace(test).match(tokens).points()).containsExactly(REACHED);
    }
  }
}
