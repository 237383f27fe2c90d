package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.AbortMode;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What an aborted prefill keeps, and what it gives back. */
class AbortTest {
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.window("w", DType.BF16, 6, 1, 2, -1, 8),
          TensorSpec.fixed("s", DType.F32, 2, 16));

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(41, 0, 1_000).toArray();

  private PrefillSession prefill(Namespace ns, AbortMode mode, RestorePolicy policy) {
    PrefillPlan plan = PrefillPlan.tokens(prompt.length).onAbort(mode).policy(policy);
    return ns.prefill(ns.match(prompt), plan);
  }

  private void append(PrefillSession session, int to) {
    while (session.tokens() < to) {
      int from = session.tokens();
      int end = from + LAYOUT.blockTokens();
      session.append(Arrays.copyOfRange(prompt, from, end), model.plainViews(prompt, end));
    }
  }

  @Test
  void twoPrefillsOfOnePromptThatBothDiscardLeaveNothing() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession first = prefill(ns, AbortMode.DISCARD, RestorePolicy.EVERY);
      PrefillSession second = prefill(ns, AbortMode.DISCARD, RestorePolicy.EVERY);
      append(first, 12);
      append(second, 20);
      append(first, 24);
      first.abort();
      test.check();
      assertThat(test.store().stats().boundaries()).isEqualTo(5);
      second.abort();
      assertThat(test.store().stats().boundaries()).isZero();
      assertThat(test.store().stats().points()).isZero();
      assertThat(test.store().stats().liveBytes()).isZero();
      test.reopen();
      assertThat(test.store().stats().segments()).isZero();
    }
  }

  @Test
  void aDiscardLeavesWhatAnotherPrefillOfTheSamePromptHas() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession discards = prefill(ns, AbortMode.DISCARD, RestorePolicy.EVERY);
      PrefillSession goesOn = prefill(ns, AbortMode.KEEP, RestorePolicy.EVERY);
      append(discards, 20);
      append(goesOn, 16);
      discards.abort();
      test.check();
      append(goesOn, 40);
      goesOn.promptComplete();
      goesOn.close();
      PrefixMatch match = ns.match(prompt);
      assertThat(match.points()).containsExactly(4, 8, 12, 16, 20, 24, 28, 32, 36, 40);
      for (int at : match.points()) {
        model.assertRestores(new Random(at), match, at, prompt);
      }
    }
  }

  @Test
  void theOneThatStaysMayBeTheOneThatCameFirst() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession goesOn = prefill(ns, AbortMode.KEEP, RestorePolicy.EVERY);
      PrefillSession discards = prefill(ns, AbortMode.DISCARD, RestorePolicy.EVERY);
      append(goesOn, 16);
      append(discards, 20);
      discards.abort();
      assertThat(ns.match(prompt).storedTokens()).isEqualTo(16);
      append(goesOn, 40);
      goesOn.close();
      test.reopen();
      PrefixMatch match = test.namespace(LAYOUT).match(prompt);
      assertThat(match.restorableTokens()).isEqualTo(40);
      for (int at : match.points()) {
        model.assertRestores(new Random(at), match, at, prompt);
      }
    }
  }

  @Test
  void aDiscardLeavesWhatARestoreIsReading() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession session = prefill(ns, AbortMode.DISCARD, RestorePolicy.EVERY);
      append(session, 24);
      try (RestoredState pinned = ns.match(prompt).restore(16)) {
        session.abort();
        test.store().flush();
        test.store().runOnce();
        test.check();
        assertThat(ns.match(prompt).storedTokens()).isEqualTo(16);
        model.assertRestores(new Random(1), pinned, prompt);
      }
    }
  }

  @Test
  void closingTheStoreAbortsEachOpenSessionAsItsPlanSays() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      append(prefill(ns, AbortMode.KEEP, RestorePolicy.EVERY), 12);
      append(prefill(ns, AbortMode.DISCARD, RestorePolicy.EVERY), 24);
      append(prefill(ns.tenant(new byte[16]), AbortMode.DISCARD, RestorePolicy.EVERY), 24);
      test.reopen();
      Namespace reopened = test.namespace(LAYOUT);
      assertThat(reopened.match(prompt).storedTokens()).isEqualTo(12);
      assertThat(reopened.tenant(new byte[16]).match(prompt).storedTokens()).isZero();
      assertThat(test.store().stats().boundaries()).isEqualTo(3);
    }
  }

  @Test
  void anAbortMayKeepAPointWhereItGotTo() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession session = prefill(ns, AbortMode.DISCARD, RestorePolicy.LAST);
      append(session, 20);
      assertThat(ns.match(prompt).points()).isEmpty();
      session.abortKeeping(model.plainViews(prompt, 20));
      PrefixMatch match = ns.match(prompt);
      assertThat(match.points()).containsExactly(20);
      model.assertRestores(new Random(1), match, 20, prompt);
    }
  }

  @Test
  void whatWasGeneratedIsRestorableFromItsNewestBoundary() {
    int[] generated = Arrays.copyOf(prompt, 60);
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession session = prefill(ns, AbortMode.DISCARD, RestorePolicy.LAST);
      append(session, 40);
      session.promptComplete();
      long before = test.store().stats().points();
      for (int end = 44; end <= 60; end += 4) {
        session.append(
            Arrays.copyOfRange(generated, end - 4, end), model.plainViews(generated, end));
      }
      assertThat(test.store().stats().points()).as("held in memory").isEqualTo(before);
      session.close();
      PrefixMatch match = ns.match(Prompt.ofTokens(generated), 60);
      assertThat(match.points()).containsExactly(60);
      model.assertRestores(new Random(1), match, 60, generated);
    }
  }
}
