package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Window rows: which deltas stay while points come and go, and rings of every state. */
class WindowTest {
  private static final int BLOCK = 512;
  private static final TensorSpec WINDOW = TensorSpec.window("w", DType.BF16, 1_024, 0, 2, -1, 4);
  private static final Layout LAYOUT =
      Layout.of(BLOCK, TensorSpec.rows("k", DType.U8, 1, 1, -1, 2), WINDOW);

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(2_049, 0, 1_000).toArray();

  private void store(Namespace ns, int[] tokens, RestorePolicy policy) {
    PrefixMatch match = ns.match(tokens);
    PrefillPlan plan = PrefillPlan.tokens(tokens.length).policy(policy);
    try (PrefillSession session = ns.prefill(match, plan)) {
      append(session, tokens);
      session.promptComplete();
    }
  }

  private void append(PrefillSession session, int[] tokens) {
    while (session.tokens() + BLOCK <= tokens.length) {
      int from = session.tokens();
      int end = from + BLOCK;
      session.append(Arrays.copyOfRange(tokens, from, end), model.plainViews(tokens, end));
    }
  }

  private int[] branch(int shared) {
    int[] other = prompt.clone();
    other[shared]++;
    return other;
  }

  @Test
  void aThinnedPointsRowsStayForALaterPointsWindow() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      store(ns, Arrays.copyOf(prompt, 1_537), RestorePolicy.EVERY);
      assertThat(ns.match(prompt).points()).containsExactly(512, 1_024, 1_536);
      // A later turn keeps every third block: the point at 1,024 goes, one past it stays.
      store(ns, prompt, RestorePolicy.stride(3));
      assertThat(ns.match(prompt).points()).containsExactly(1_536, 2_048);
      test.check();
      test.reopen();
      PrefixMatch match = test.namespace(LAYOUT).match(prompt);
      model.assertRestores(new Random(1), match, 1_536, prompt);
      model.assertRestores(new Random(2), match, 2_048, prompt);
    }
  }

  @Test
  void aPointComesBackWhereOnlyItsOwnRowsHadStayed() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      store(ns, prompt, RestorePolicy.EVERY);
      store(ns, prompt, RestorePolicy.LAST);
      assertThat(ns.match(prompt).points()).containsExactly(2_048);
      // The delta at 1,536 is still there for the last point, those before it are not.
      int[] other = branch(1_536);
      store(ns, other, RestorePolicy.LAST);
      test.check();
      PrefixMatch match = ns.match(other);
      assertThat(match.points()).containsExactly(1_536, 2_048);
      model.assertRestores(new Random(1), match, 1_536, other);
      model.assertRestores(new Random(2), match, 2_048, other);
      model.assertRestores(new Random(3), ns.match(prompt), 2_048, prompt);
      test.reopen();
      model.assertRestores(new Random(4), test.namespace(LAYOUT).match(other), 1_536, other);
    }
  }

  @Test
  void anAbortKeepsAPointWhereOnlyItsOwnRowsHadStayed() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      store(ns, prompt, RestorePolicy.EVERY);
      store(ns, prompt, RestorePolicy.LAST);
      PrefillPlan plan = PrefillPlan.tokens(4_096).policy(RestorePolicy.LAST).from(0);
      PrefillSession session = ns.prefill(ns.match(prompt), plan);
      int[] start = Arrays.copyOf(prompt, 1_536);
      append(session, start);
      session.abortKeeping(model.plainViews(start, 1_536));
      test.check();
      PrefixMatch match = ns.match(prompt);
      assertThat(match.points()).containsExactly(1_536, 2_048);
      model.assertRestores(new Random(1), match, 1_536, prompt);
      test.reopen();
      model.assertRestores(new Random(2), test.namespace(LAYOUT).match(prompt), 1_536, prompt);
    }
  }

  /** Each ring is written as its server would leave it, and read back into one of another size. */
  @ParameterizedTest(name = "{0} tokens, {1} slots of which {2} sinks, next slot {3}")
  @CsvSource({
    // Grown while a chunk was appended: it holds more than the window.
    "15360, 2047, 0, 2047",
    "15360, 2047, 0, 1023",
    // Not yet full.
    "962, 1024, 0, 962",
    // Wrapped many times.
    "15360, 1024, 0, 0",
    "15360, 1024, 0, 1024",
    "15360, 1024, 0, 377",
    // Sinks in front of the ring.
    "15360, 1028, 4, 4",
    "15360, 1028, 4, 1028",
    "15360, 1028, 4, 700",
    "962, 1028, 4, 962",
    "2, 1028, 4, 2",
  })
  void ringsComeBackInTokenOrder(int tokens, int slots, int sinks, int slot) {
    TensorSpec window = TensorSpec.window("w", DType.BF16, 1_024, sinks, 2, -1, 4);
    int block = tokens % BLOCK == 0 ? BLOCK : tokens;
    Layout layout = Layout.of(block, window);
    FakeModel ringModel = new FakeModel(layout);
    int[] ringPrompt = new Random(2).ints(tokens, 0, 1_000).toArray();
    long[] prefixes = FakeModel.prefixes(ringPrompt);
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(layout);
      PrefillPlan plan = PrefillPlan.tokens(tokens + 1).policy(RestorePolicy.LAST);
      try (PrefillSession session = ns.prefill(ns.match(ringPrompt), plan)) {
        while (session.tokens() < tokens) {
          int from = session.tokens();
          int end = from + block;
          CallerTensor held =
              end < tokens
                  ? CallerTensor.plain(window, end)
                  : CallerTensor.ring(window, slots, sinks, slot, end);
          ringModel.write(held, end, prefixes);
          session.append(
              Arrays.copyOfRange(ringPrompt, from, end),
              StateViews.builder().put(window, held.view()).build());
        }
      }
      test.check();
      PrefixMatch match = ns.match(Prompt.ofTokens(ringPrompt), tokens);
      assertThat(match.points()).containsExactly(tokens);
      for (int seed = 0; seed < 5; seed++) {
        ringModel.assertRestores(new Random(seed), match, tokens, ringPrompt);
      }
      try (RestoredState state = match.restore()) {
        assertThat(state.firstRow(window)).isEqualTo(Math.max(0, tokens - 1_024));
        assertThat(state.endRow(window)).isEqualTo(tokens);
      }
    }
  }
}
