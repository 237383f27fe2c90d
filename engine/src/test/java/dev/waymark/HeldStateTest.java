package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.error.WaymarkException;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The newest state of a session that generates tokens outlives whatever fails after it. */
class HeldStateTest {
  private static final int PROMPT = 65;
  private final SampleModel model = new SampleModel("m", 4 << 10, 64, 256);
  private final int[] tokens = QuotaTest.prompt(3, 641);

  private PrefillSession generating(Namespace ns, int to) {
    PrefillSession session =
        ns.prefill(ns.match(tokens), PrefillPlan.tokens(PROMPT).policy(RestorePolicy.LAST));
    model.appendRest(session, tokens, PROMPT);
    session.promptComplete();
    model.appendRest(session, tokens, to);
    assertThat(session.tokens()).isEqualTo(to);
    return session;
  }

  private void requireRestorable(TestStore test, Namespace ns, int to) {
    assertThat(model.restoreAndCheck(ns.match(tokens), tokens)).isEqualTo(to);
    test.check();
  }

  @Test
  void anAppendThatTheQuotaRefusesLeavesTheNewestPoint() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.store().namespace(model.identity, model.layout);
      ns.setQuota(1 << 20);
      PrefillSession session = generating(ns, 80);
      Throwable refused = catchThrowable(() -> model.appendRest(session, tokens, tokens.length));
      assertThat(refused).isInstanceOf(WaymarkException.class);
      int reached = session.tokens();
      assertThat(reached).isBetween(81, 640);
      // The state takes less than the block that did not fit.
      session.close();
      requireRestorable(test, ns, reached);
    }
  }

  @Test
  void anAppendThatAFullDiskRefusesLeavesTheNewestPoint() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.store().namespace(model.identity, model.layout);
      PrefillSession session = generating(ns, 96);
      test.directory().inject(Fault.diskFull(OperationKind.ALLOCATE).sticky());
      Throwable refused = catchThrowable(() -> model.appendRest(session, tokens, tokens.length));
      assertThat(refused).isInstanceOfAny(DiskFullException.class, QuotaExceededException.class);
      int reached = session.tokens();
      test.directory().clearFaults();
      session.close();
      requireRestorable(test, ns, reached);
    }
  }

  @Test
  void aFirstBlockThatAFullDiskRefusesLeavesNothingToWrite() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.store().namespace(model.identity, model.layout);
      int[] brief = Arrays.copyOf(tokens, 1);
      PrefillSession session =
          ns.prefill(ns.match(brief), PrefillPlan.tokens(1).policy(RestorePolicy.LAST));
      session.promptComplete();
      test.directory().inject(Fault.diskFull(OperationKind.ALLOCATE).sticky());
      Throwable refused = catchThrowable(() -> model.appendRest(session, tokens, 80));
      assertThat(refused).isInstanceOfAny(DiskFullException.class, QuotaExceededException.class);
      test.directory().clearFaults();
      session.close();
      assertThat(ns.match(tokens).storedTokens()).isZero();
      test.check();
    }
  }

  @Test
  void eachBlockReplacesWhatIsHeldAsTheWindowGrows() {
    for (int to = 80; to <= 160; to += 16) {
      try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
        Namespace ns = test.store().namespace(model.identity, model.layout);
        int[] brief = Arrays.copyOf(tokens, 1);
        try (PrefillSession session =
            ns.prefill(ns.match(brief), PrefillPlan.tokens(1).policy(RestorePolicy.LAST))) {
          session.promptComplete();
          model.appendRest(session, tokens, to);
        }
        requireRestorable(test, ns, to);
        assertThat(test.store().stats().points()).isEqualTo(1);
      }
    }
  }

  @Test
  void stateOf2GiBATensorIsNotHeld() {
    TensorSpec below = TensorSpec.fixed("s", DType.F32, (1 << 29) - 1);
    TensorSpec at = TensorSpec.fixed("s", DType.F32, 1 << 29);
    assertThat(HeldPoint.fits(Layout.of(16, below))).isTrue();
    assertThat(HeldPoint.fits(Layout.of(16, at))).isFalse();
    TensorSpec window = TensorSpec.window("w", DType.F32, 1 << 20, 0, 1, -1, 512);
    Layout layout = Layout.of(16, window);
    StoreOptions options = TestStore.options("64MiB").heldState(1L << 40).build();
    try (TestStore test = new TestStore(options)) {
      Namespace ns = test.namespace(layout);
      PrefillPlan plan = PrefillPlan.tokens(17).policy(RestorePolicy.LAST);
      try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
        FieldLayouts.appendZeros(session, layout, tokens, 16);
        session.promptComplete();
        FieldLayouts.appendZeros(session, layout, tokens, 64);
        assertThat(test.store().engine().takeHeld(1L << 40)).isTrue();
        test.store().engine().giveHeld(1L << 40);
      }
      // The prompt's own point is written as ever.
      assertThat(ns.match(tokens).points()).containsExactly(16);
    }
  }
}
