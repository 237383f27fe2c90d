package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.AbortMode;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A point that an open session added, and to which another came, goes only with the last of them
 * that takes it back; one that a completed prompt rests on goes with none.
 */
class SharedPointTest {
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.window("w", DType.BF16, 6, 1, 2, -1, 8),
          TensorSpec.fixed("s", DType.F32, 2, 16));

  /** Where the point in question is. */
  private static final int POINT = 24;

  /** What happens to a session that is to take back what it stored. */
  private enum End {
    ABORTED,
    ABORTED_AFTER_CHECKPOINT,
    DIED,
    DIED_AFTER_CHECKPOINT
  }

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(41, 0, 1_000).toArray();

  /** Each end, on a boundary that nobody owns any more, and on one of the session itself. */
  static Stream<Arguments> cases() {
    return Stream.of(End.values())
        .flatMap(end -> Stream.of(true, false).map(unowned -> Arguments.of(end, unowned)));
  }

  private static TestStore open() {
    return new TestStore(TestStore.options("64MiB").build());
  }

  private PrefillSession prefill(TestStore test, int tokens, AbortMode mode) {
    Namespace ns = test.namespace(LAYOUT);
    RestorePolicy policy = tokens == POINT + 1 ? RestorePolicy.LAST : RestorePolicy.EVERY;
    PrefillPlan plan = PrefillPlan.tokens(tokens).onAbort(mode).policy(policy);
    return ns.prefill(ns.match(prompt), plan.from(0).durability(Durability.COMMIT));
  }

  private void append(PrefillSession session, int to) {
    int from = session.tokens();
    session.append(Arrays.copyOfRange(prompt, from, to), model.plainViews(prompt, to));
  }

  /** Rows without a point, as an earlier prompt leaves them. */
  private void storeRows(TestStore test) {
    try (PrefillSession rows = prefill(test, prompt.length, AbortMode.KEEP)) {
      append(rows, 40);
      rows.promptComplete();
    }
    Namespace ns = test.namespace(LAYOUT);
    assertThat(ns.match(prompt).points()).containsExactly(40);
  }

  private void checkpointIf(boolean wanted, TestStore test) {
    if (wanted) {
      test.store().engine().publisher.checkpoint();
    }
  }

  private void end(TestStore test, End end, PrefillSession session) {
    checkpointIf(end.name().endsWith("CHECKPOINT"), test);
    if (end == End.ABORTED || end == End.ABORTED_AFTER_CHECKPOINT) {
      session.abort(AbortMode.DISCARD);
      test.check();
    } else {
      test.killAndReopen();
    }
  }

  private void requirePoint(TestStore test, boolean there) {
    for (int i = 0; i < 2; i++) {
      PrefixMatch match = test.namespace(LAYOUT).match(prompt);
      assertThat(Arrays.stream(match.points()).anyMatch(at -> at == POINT)).isEqualTo(there);
      if (there) {
        model.assertRestores(new Random(1), match, POINT, prompt);
      }
      test.killAndReopen();
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void staysForAPromptThatWasCompletedOnIt(End end, boolean unowned) {
    try (TestStore test = open()) {
      if (unowned) {
        storeRows(test);
      }
      PrefillSession discards = prefill(test, prompt.length, AbortMode.DISCARD);
      PrefillSession completes = prefill(test, POINT + 1, AbortMode.KEEP);
      append(discards, POINT);
      append(completes, POINT);
      completes.promptComplete();
      completes.close();
      end(test, end, discards);
      requirePoint(test, true);
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void staysForAPromptThatWasCompleteBefore(End end, boolean unowned) {
    try (TestStore test = open()) {
      if (unowned) {
        storeRows(test);
      }
      PrefillSession discards = prefill(test, prompt.length, AbortMode.DISCARD);
      PrefillSession generates = prefill(test, POINT + 1, AbortMode.KEEP);
      append(generates, POINT - 4);
      generates.promptComplete();
      append(discards, POINT);
      append(generates, POINT);
      generates.close();
      end(test, end, discards);
      requirePoint(test, true);
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void staysForAPromptThatWentOnFromItAndAppendedNothing(End end, boolean unowned) {
    try (TestStore test = open()) {
      if (unowned) {
        storeRows(test);
      }
      PrefillSession discards = prefill(test, prompt.length, AbortMode.DISCARD);
      append(discards, POINT);
      Namespace ns = test.namespace(LAYOUT);
      PrefillPlan plan = PrefillPlan.tokens(POINT + 1).from(POINT).durability(Durability.COMMIT);
      try (PrefillSession completes = ns.prefill(ns.match(prompt), plan)) {
        completes.promptComplete();
      }
      end(test, end, discards);
      requirePoint(test, true);
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void staysForOneThatIsToBeKeptWhereBothDie(End end, boolean unowned) {
    for (boolean keptFirst : new boolean[] {true, false}) {
      try (TestStore test = open()) {
        if (unowned) {
          storeRows(test);
        }
        AbortMode first = keptFirst ? AbortMode.KEEP : AbortMode.DISCARD;
        AbortMode second = keptFirst ? AbortMode.DISCARD : AbortMode.KEEP;
        PrefillSession one = prefill(test, POINT + 1, first);
        PrefillSession other = prefill(test, POINT + 1, second);
        append(keptFirst ? other : one, POINT);
        append(keptFirst ? one : other, POINT);
        end(test, end, keptFirst ? other : one);
        requirePoint(test, true);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void goesWithTheLastThatTakesItBack(End end, boolean unowned) {
    goesWithTheLast(end, unowned, false);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void goesWithTheLastThatTakesItBackAlsoOneThatOnlyWentOnFromIt(End end, boolean unowned) {
    goesWithTheLast(end, unowned, true);
  }

  private void goesWithTheLast(End end, boolean unowned, boolean goesOnFromIt) {
    try (TestStore test = open()) {
      if (unowned) {
        storeRows(test);
      }
      PrefillSession adds = prefill(test, POINT + 1, AbortMode.DISCARD);
      PrefillSession finds;
      if (goesOnFromIt) {
        append(adds, POINT);
        Namespace ns = test.namespace(LAYOUT);
        PrefillPlan plan = PrefillPlan.tokens(POINT + 1).onAbort(AbortMode.DISCARD).from(POINT);
        finds = ns.prefill(ns.match(prompt), plan);
      } else {
        finds = prefill(test, POINT + 1, AbortMode.DISCARD);
        append(adds, POINT);
        append(finds, POINT);
      }
      adds.abort();
      checkpointIf(end.name().endsWith("CHECKPOINT"), test);
      assertThat(test.namespace(LAYOUT).match(prompt).points()).contains(POINT);
      end(test, end, finds);
      requirePoint(test, false);
      assertThat(test.store().stats().boundaries()).isEqualTo(unowned ? 10 : 0);
    }
  }
}
