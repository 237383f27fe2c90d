package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is lost with a point: what needs the records that are lost, and nothing else. */
class LostPointTest {
  private static final int BLOCK = 16;
  private static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.window("w", DType.F32, 70, 0, -1, 2),
          TensorSpec.fixed("s", DType.F32, 2, 16));

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(193, 0, 1_000).toArray();

  private void prefill(TestStore test, int tokens, RestorePolicy policy, Durability durability) {
    Namespace ns = test.namespace(LAYOUT);
    PrefillPlan plan = PrefillPlan.tokens(tokens).policy(policy).durability(durability);
    try (PrefillSession session =
        ns.prefill(ns.match(Arrays.copyOf(prompt, tokens)), plan.from(0))) {
      while (session.tokens() + BLOCK < tokens) {
        int to = session.tokens() + BLOCK;
        int[] block = Arrays.copyOfRange(prompt, to - BLOCK, to);
        session.append(block, model.plainViews(prompt, to));
      }
      session.promptComplete();
    }
  }

  private void requirePoints(TestStore test, int... points) {
    PrefixMatch match = test.namespace(LAYOUT).match(prompt);
    assertThat(match.points()).containsExactly(points);
    for (int at : points) {
      model.assertRestores(new Random(at), match, at, prompt);
    }
    test.check();
  }

  /** Nothing of what is written into delta segments can be saved, wherever it is moved. */
  private static void loseWhatIsNotDurable(TestStore test) {
    test.directory().inject(Fault.ioError(OperationKind.FORCE).onFile("delta-").times(3));
    assertThatThrownBy(test.store()::flush).isInstanceOf(DurabilityLostException.class);
  }

  /** What is durable was written by an earlier process, or stands in the segment that fails. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theDeltaThatALostOneTookThePlaceOfStandsAgain(boolean sameSegment) {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      // A point at 64, then at 112 whose delta leaves out what is before 64, then at 160, whose
      // window reaches back to 90: the point at 112 goes, its delta stays, and that at 64 goes.
      prefill(test, 80, RestorePolicy.LAST, Durability.COMMIT);
      prefill(test, 128, RestorePolicy.LAST, Durability.COMMIT);
      prefill(test, 176, RestorePolicy.LAST, Durability.COMMIT);
      test.store().flush();
      if (!sameSegment) {
        test.reopen();
      }
      requirePoints(test, 160);
      prefill(test, 128, RestorePolicy.LAST, Durability.NONE);
      requirePoints(test, 112, 160);
      loseWhatIsNotDurable(test);
      requirePoints(test, 160);
      test.store().runOnce();
      requirePoints(test, 160);
      test.killAndReopen();
      requirePoints(test, 160);
      prefill(test, 128, RestorePolicy.LAST, Durability.COMMIT);
      requirePoints(test, 112, 160);
    }
  }

  @Test
  void aDeltaOutlivesTheStateThatCouldNotBeForced() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      prefill(test, 80, RestorePolicy.LAST, Durability.COMMIT);
      prefill(test, 96, RestorePolicy.LAST, Durability.COMMIT);
      test.store().flush();
      requirePoints(test, 80);
      prefill(test, 80, RestorePolicy.LAST, Durability.NONE);
      requirePoints(test, 64, 80);
      loseWhatIsNotDurable(test);
      requirePoints(test, 80);
      test.killAndReopen();
      requirePoints(test, 80);
    }
  }

  @Test
  void aDeltaOutlivesTheStateThatIsDamaged() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      prefill(test, 65, RestorePolicy.EVERY, Durability.COMMIT);
      requirePoints(test, 16, 32, 48, 64);
      damage(test, 32, RecordKind.STATE);
      requirePoints(test, 16, 48, 64);
      test.store().flush();
      test.killAndReopen();
      requirePoints(test, 16, 48, 64);
      damage(test, 32, RecordKind.DELTA);
      requirePoints(test, 16);
    }
  }

  private void damage(TestStore test, int tokens, RecordKind kind) {
    Namespace ns = test.namespace(LAYOUT);
    StoreEngine engine = test.store().engine();
    Forest forest = engine.forest;
    engine.publisher.write(
        () -> {
          int node = forest.find(ns.state().id(), ns.match(prompt).keyAt(tokens));
          RecordLocation record = forest.records(node, kind).get(0);
          engine.dropDamaged(
              ns.state().id(),
              forest.key(node),
              kind,
              record,
              new CorruptionException(ErrorDetail.of("made up")));
          return null;
        });
  }
}
