package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.RestoreMissException;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where restore points are, and from where the next request resumes. */
class PointsTest {
  private static int[] prompt(int tokens) {
    return new Random(1).ints(tokens, 0, 100_000).toArray();
  }

  private static PrefillSession prefill(Namespace ns, int[] prompt, RestorePolicy policy) {
    return ns.prefill(ns.match(prompt), PrefillPlan.tokens(prompt.length).policy(policy));
  }

  private static void append(PrefillSession session, FakeModel model, int[] prompt, int to) {
    int block = model.layout().blockTokens();
    while (session.tokens() + block <= to) {
      int end = session.tokens() + block;
      session.append(Arrays.copyOfRange(prompt, end - block, end), model.plainViews(prompt, end));
    }
  }

  private static void store(Namespace ns, FakeModel model, int[] prompt, RestorePolicy policy) {
    try (PrefillSession session = prefill(ns, prompt, policy)) {
      append(session, model, prompt, prompt.length);
      session.promptComplete();
    }
  }

  private static TestStore open() {
    return new TestStore(TestStore.options("1GiB").build());
  }

  @Test
  void aLongPromptIsResumedFromItsLastWholeBlock() {
    Layout layout = FieldLayouts.tinyHybrid(2_048);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(262_112);
    try (TestStore test = open()) {
      store(test.namespace(layout), model, prompt, RestorePolicy.EVERY);
      test.reopen();
      Namespace ns = test.namespace(layout);
      PrefixMatch match = ns.match(prompt);
      assertThat(match.restorableTokens()).isEqualTo(260_096);
      assertThat(match.residualTokens()).isEqualTo(2_016);
      var forest = test.store().engine().forest;
      int newest = forest.find(1, match.keyAt(260_096));
      RecordLocation state = forest.stateRecords(newest).get(0);
      long rows = forest.namespaces().get(0).rowRecordBytes();
      assertThat(match.bytesToRead()).as("one state").isEqualTo(rows + state.lengthBytes());
      // The newest state is lost.
      test.disk.flip(
          SegmentKind.DELTA.fileName(state.segmentId()),
          state.offsetBytes() + state.lengthBytes() - 1,
          1);
      assertThatThrownBy(() -> model.assertRestores(new Random(1), match, 260_096, prompt))
          .isInstanceOf(RestoreMissException.class)
          .hasMessageContaining("258048");
      PrefixMatch after = ns.match(prompt);
      assertThat(after.restorableTokens()).isEqualTo(258_048);
      model.assertRestores(new Random(1), after, 258_048, prompt);
    }
  }

  /**
   * Rows that all deeper points stand on: only points above them are left, and only those named.
   */
  @Test
  void aMissNamesNoPointThatStandsOnWhatIsLost() {
    Layout layout = FieldLayouts.tinyHybrid(64);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(64 * 5 + 1);
    try (TestStore test = open()) {
      store(test.namespace(layout), model, prompt, RestorePolicy.EVERY);
      test.reopen();
      Namespace ns = test.namespace(layout);
      PrefixMatch match = ns.match(prompt);
      assertThat(match.points()).containsExactly(64, 128, 192, 256, 320);
      var forest = test.store().engine().forest;
      RecordLocation rows = forest.rowRecords(forest.find(1, match.keyAt(192))).get(0);
      String file = SegmentKind.APPEND.fileName(rows.segmentId());
      test.disk.inject(Fault.ioError(OperationKind.GET).onFile(file).sticky());
      assertThatThrownBy(() -> model.assertRestores(new Random(1), match, 320, prompt))
          .isInstanceOfSatisfying(
              RestoreMissException.class,
              miss -> assertThat(miss.nextShallowerTokens()).as("none can be read").isZero());
      test.disk.clearFaults();
      model.assertRestores(new Random(1), match, 320, prompt);

      test.disk.flip(file, rows.offsetBytes() + rows.lengthBytes() - 1, 1);
      assertThatThrownBy(() -> model.assertRestores(new Random(1), match, 320, prompt))
          .isInstanceOfSatisfying(
              RestoreMissException.class,
              miss -> assertThat(miss.nextShallowerTokens()).isEqualTo(128))
          .hasMessageContaining("restore at 128 tokens");
      model.assertRestores(new Random(1), match, 128, prompt);
    }
  }

  @Test
  void aRetryLeavesOneTokenToComputeUnlessTheCallerSaysOtherwise() {
    Layout layout = FieldLayouts.tinyHybrid(2_048);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(8_192);
    try (TestStore test = open()) {
      Namespace ns = test.namespace(layout);
      store(ns, model, prompt, RestorePolicy.EVERY);
      assertThat(ns.match(prompt).restorableTokens()).isEqualTo(6_144);
      PrefixMatch whole = ns.match(Prompt.ofTokens(prompt), 8_192);
      assertThat(whole.restorableTokens()).isEqualTo(8_192);
      model.assertRestores(new Random(1), whole, 8_192, prompt);
    }
  }

  @Test
  void aStrideResumesAtEachMultiple() {
    Layout layout = FieldLayouts.tinyHybrid(4_096);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(25_815);
    try (TestStore test = open()) {
      Namespace ns = test.namespace(layout);
      int[] resumed = new int[4];
      for (int attempt = 0; attempt < 4; attempt++) {
        PrefillSession session = prefill(ns, prompt, RestorePolicy.stride(2));
        resumed[attempt] = session.tokens();
        append(session, model, prompt, Math.min(prompt.length, session.tokens() + 8_300));
        session.abort();
      }
      assertThat(resumed).containsExactly(0, 8_192, 16_384, 24_576);
    }
  }

  @Test
  void eachRetryResumesDeeperByDefault() {
    Layout layout = FieldLayouts.tinyHybrid(4_096);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(25_815);
    try (TestStore test = open()) {
      Namespace ns = test.namespace(layout);
      int[] resumed = new int[4];
      for (int attempt = 0; attempt < 4; attempt++) {
        PrefillSession session = prefill(ns, prompt, RestorePolicy.DEFAULT);
        resumed[attempt] = session.tokens();
        append(session, model, prompt, Math.min(prompt.length, session.tokens() + 8_300));
        if (session.tokens() > 0) {
          session.abortKeeping(model.plainViews(prompt, session.tokens()));
        }
      }
      assertThat(resumed).isSorted().doesNotHaveDuplicates();
      PrefixMatch match = ns.match(prompt);
      model.assertRestores(new Random(1), match, match.restorableTokens(), prompt);
    }
  }

  /** The lattice alone, without state given at the abort. */
  @Test
  void eachRetryResumesDeeperByTheLatticeAlone() {
    Layout layout = FieldLayouts.tinyHybrid(4_096);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(25_815);
    try (TestStore test = open()) {
      Namespace ns = test.namespace(layout);
      int[] resumed = new int[4];
      for (int attempt = 0; attempt < 4; attempt++) {
        PrefillSession session = prefill(ns, prompt, RestorePolicy.DEFAULT);
        resumed[attempt] = session.tokens();
        append(session, model, prompt, Math.min(prompt.length, session.tokens() + 8_300));
        session.abort();
      }
      assertThat(resumed).isSorted().doesNotHaveDuplicates();
    }
  }

  @ParameterizedTest
  @EnumSource(AbortMode.class)
  void anAbortBehindALongPrefill(AbortMode mode) {
    Layout layout = FieldLayouts.tinyHybrid(2_048);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(203_000);
    try (TestStore test = open()) {
      Namespace ns = test.namespace(layout);
      PrefillSession session = prefill(ns, prompt, RestorePolicy.EVERY);
      append(session, model, prompt, 161_792);
      session.abort(mode);
      test.check();
      for (int opened = 0; opened < 2; opened++) {
        PrefixMatch match = test.namespace(layout).match(prompt);
        if (mode == AbortMode.DISCARD) {
          assertThat(match.storedTokens()).isZero();
          assertThat(test.store().stats().boundaries()).isZero();
          assertThat(test.store().stats().liveBytes()).isZero();
        } else {
          assertThat(match.points()).hasSize(79);
          assertThat(match.restorableTokens()).isEqualTo(161_792);
          model.assertRestores(new Random(1), match, 161_792, prompt);
        }
        test.reopen();
      }
      assertThat(test.store().stats().segments() == 0).isEqualTo(mode == AbortMode.DISCARD);
    }
  }

  @Test
  void aPointIsAddedWhereSeveralPromptsBranchOff() {
    Layout layout = FieldLayouts.tinyHybrid(1_024);
    FakeModel model = new FakeModel(layout);
    try (TestStore test = open()) {
      Namespace ns = test.namespace(layout);
      int[] first = prompt(9_000);
      store(ns, model, first, RestorePolicy.LAST);
      for (int other = 1; other <= 4; other++) {
        int[] prompt = first.clone();
        Arrays.fill(prompt, 4_096, 9_000, other);
        PrefixMatch match = ns.match(prompt);
        assertThat(match.storedTokens()).isEqualTo(4_096);
        assertThat(match.branchTokens()).isEqualTo(4_096);
        assertThat(match.restorableTokens()).isEqualTo(other == 1 ? 0 : 4_096);
        if (other > 1) {
          model.assertRestores(new Random(1), match, 4_096, prompt);
        }
        PrefillSession session = prefill(ns, prompt, RestorePolicy.LAST);
        assertThat(session.nextPointTokens()).isEqualTo(other == 1 ? 4_096 : 8_192);
        append(session, model, prompt, prompt.length);
        session.promptComplete();
        session.close();
      }
      test.check();
    }
  }

  @Test
  void twoRanksAgreeOnTheDeepestCommonPoint() {
    Layout layout = FieldLayouts.tinyHybrid(2_048);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(9_000);
    try (TestStore one = open();
        TestStore two = open()) {
      store(one.namespace(layout), model, prompt, RestorePolicy.EVERY);
      store(two.namespace(layout), model, Arrays.copyOf(prompt, 6_200), RestorePolicy.EVERY);
      PrefixMatch first = one.namespace(layout).match(prompt);
      PrefixMatch second = two.namespace(layout).match(prompt);
      assertThat(first.restorableTokens()).isEqualTo(8_192);
      assertThat(second.restorableTokens()).isEqualTo(6_144);
      int common =
          IntStream.of(first.points())
              .filter(at -> IntStream.of(second.points()).anyMatch(other -> other == at))
              .max()
              .getAsInt();
      assertThat(common).isEqualTo(6_144);
      for (PrefixMatch match : List.of(first, second)) {
        model.assertRestores(new Random(1), match, common, prompt);
      }
    }
  }

  /** Pools of 4 and of 128 tokens a row, in blocks of 64 and of 6. */
  @Test
  void pooledRowsAndTheirCarriesRoundTripAtEveryBoundary() {
    for (int block : new int[] {64, 6}) {
      Layout layout = FieldLayouts.pooled(block);
      FakeModel model = new FakeModel(layout);
      int[] prompt = prompt(12 * 64 + 1);
      try (TestStore test = open()) {
        Namespace ns = test.namespace(layout);
        store(ns, model, prompt, RestorePolicy.EVERY);
        for (int opened = 0; opened < 2; opened++) {
          PrefixMatch match = test.namespace(layout).match(prompt);
          assertThat(match.points()).hasSize(12 * 64 / block);
          for (int at : match.points()) {
            model.assertRestores(new Random(at), match, at, prompt);
          }
          test.reopen();
        }
      }
    }
  }

  @Test
  void emptyTensorsSingleOnesAndEmptyBoundaries() {
    List<Layout> layouts =
        List.of(
            // No boundary ends a row before the third.
            Layout.of(2, TensorSpec.rows("pool", DType.F16, 6, 1, -1, 4)),
            Layout.of(2, TensorSpec.rows("empty", DType.F16, 1, 0, -1, 4)),
            Layout.of(2, TensorSpec.fixed("none", DType.F32, 0)),
            Layout.of(2, TensorSpec.fixed("scalar", DType.F32)),
            Layout.of(2, TensorSpec.fixed("state", DType.BF16, 2, 2_048)),
            Layout.of(2, TensorSpec.window("w", DType.U8, 3, 0, 2, -1, 0)),
            Layout.of(2, TensorSpec.window("w", DType.U8, 3, 9, 2, -1)));
    int[] prompt = prompt(11);
    for (Layout layout : layouts) {
      FakeModel model = new FakeModel(layout);
      try (TestStore test = open()) {
        store(test.namespace(layout), model, prompt, RestorePolicy.EVERY);
        for (int opened = 0; opened < 2; opened++) {
          PrefixMatch match = test.namespace(layout).match(prompt);
          assertThat(match.points()).as(layout.toJson()).containsExactly(2, 4, 6, 8, 10);
          for (int at : match.points()) {
            model.assertRestores(new Random(at), match, at, prompt);
          }
          test.reopen();
        }
      }
    }
  }

  @Test
  void aPromptUnderABlockIsSkippedWhole() {
    Layout layout = FieldLayouts.tinyHybrid(1_024);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(434);
    try (TestStore test = open()) {
      Namespace ns = test.namespace(layout);
      try (PrefillSession session = prefill(ns, prompt, RestorePolicy.EVERY)) {
        assertThat(session.nextPointTokens()).isZero();
        AppendReceipt receipt = session.append(prompt, model.plainViews(prompt, 434));
        assertThat(receipt.tokens()).isZero();
        assertThat(receipt.skippedTokens()).isEqualTo(434);
        session.promptComplete();
        assertThat(receipt.durable()).isCompleted();
      }
      assertThat(ns.match(prompt).storedTokens()).isZero();
      assertThat(test.store().stats().boundaries()).isZero();
    }
  }
}
