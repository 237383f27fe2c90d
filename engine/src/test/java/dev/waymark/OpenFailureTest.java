package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.WaymarkException;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import dev.waymark.sim.SimulatedDirectory;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that fail while a store is opened or its segments are made: nothing of it stays behind. */
class OpenFailureTest {
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.window("w", DType.BF16, 6, 1, 2, -1, 8));
  private static final int MOST_CALLS = 200;

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(21, 0, 1_000).toArray();

  private void append(Namespace ns) {
    append(ns, prompt);
  }

  private void append(Namespace ns, int[] tokens) {
    PrefillPlan plan = PrefillPlan.tokens(21).policy(RestorePolicy.EVERY);
    try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
      while (session.tokens() < 20) {
        int end = session.tokens() + 4;
        session.append(Arrays.copyOfRange(tokens, end - 4, end), model.plainViews(tokens, end));
      }
      session.promptComplete();
    }
  }

  @ParameterizedTest
  @EnumSource(OperationKind.class)
  void anOpenThatFailsLeavesNothingOpen(OperationKind kind) {
    TestStore test = new TestStore(TestStore.options("64MiB").build());
    append(test.namespace(LAYOUT));
    test.store().abandon();
    for (int call = 1; call <= MOST_CALLS; call++) {
      SimulatedDirectory left = test.disk.killState();
      SimulatedDirectory failing = left.another();
      failing.inject(Fault.ioError(kind).onCall(call));
      try {
        SnapshotStore.open(
                failing, TestStore.options("64MiB").build(), () -> 1, failing::yieldPoint)
            .abandon();
      } catch (WaymarkException e) {
        assertThat(e).hasMessageContaining(kind.name());
      }
      left.assertAllClosed();
    }
  }

  /** The device is gone while a segment is made, so that what was made of it stays. */
  @Test
  void aSegmentThatCouldNotBeMadeIsNotInTheWay() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      test.directory().inject(Fault.ioError(OperationKind.MAP).sticky());
      test.directory().inject(Fault.ioError(OperationKind.DELETE).sticky());
      assertThatThrownBy(() -> append(ns)).isInstanceOf(WaymarkException.class);
      test.directory().clearFaults();
      append(ns);
      assertThat(ns.match(prompt).points()).contains(20);
    }
  }
}
