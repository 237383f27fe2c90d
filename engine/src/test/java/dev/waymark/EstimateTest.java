package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.waymark.error.QuotaExceededException;
import dev.waymark.error.RejectedException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a prefill is said to cost is what it then costs. */
class EstimateTest {
  private static final int RUNS = Integer.getInteger("runs", 60);

  /** Appends as a server does: chunks end where state is asked for. */
  static void store(Namespace ns, PrefillPlan plan, int[] prompt) {
    try (PrefillSession session = ns.prefill(ns.match(prompt), plan)) {
      append(session, ns.layout(), prompt, prompt.length);
      session.promptComplete();
    }
  }

  static void append(PrefillSession session, Layout layout, int[] prompt, int end) {
    int block = layout.blockTokens();
    while (session.tokens() + block <= end) {
      int from = session.tokens();
      int point = session.nextPointTokens();
      int to = Math.min(point > from ? point : Integer.MAX_VALUE, end / block * block);
      session.append(Arrays.copyOfRange(prompt, from, to), FieldLayouts.zeros(layout, from, to));
    }
  }

  private static CodecPlan codecs(Random random, Layout layout) {
    CodecPlan plan = CodecPlan.RAW;
    Codec[] all = Codec.values();
    for (TensorSpec spec : layout.tensors()) {
      plan = plan.withTensor(spec.name(), all[random.nextInt(all.length)]);
    }
    return plan;
  }

  private static RestorePolicy policy(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> RestorePolicy.EVERY;
      case 1 -> RestorePolicy.LAST;
      case 2 -> RestorePolicy.stride(1 + random.nextInt(4));
      default -> RestorePolicy.lattice(random.nextInt(200));
    };
  }

  /** Any layout, codecs, policy, length and start; zeros, so that no chunk is left raw. */
  @Test
  void whatIsEstimatedIsWhatIsWritten() {
    for (long seed = 1; seed <= RUNS; seed++) {
      Random random = new Random(seed);
      Layout layout = new RandomLayouts(random).next();
      CodecPlan codecs = codecs(random, layout);
      int first = random.nextInt(20 * layout.blockTokens());
      int[] prompt = random.ints(1 + random.nextInt(30 * layout.blockTokens()), 0, 50).toArray();
      try (TestStore test = new TestStore(TestStore.options("256MiB").build())) {
        Namespace ns = test.namespace(layout, codecs);
        int[] before = Arrays.copyOf(prompt, Math.min(first, prompt.length));
        store(ns, PrefillPlan.tokens(before.length).policy(policy(random)), before);
        checkOne("seed " + seed, test, ns, policy(random), prompt);
      }
    }
  }

  private static void checkOne(
      String what, TestStore test, Namespace ns, RestorePolicy policy, int[] prompt) {
    PrefillPlan plan = PrefillPlan.tokens(prompt.length).policy(policy).onAbort(AbortMode.KEEP);
    Counters counters = test.store().engine().counters;
    long appended = counters.appendedBytes.sum();
    long written = counters.recordBytes.sum();
    long allocated = test.store().stats().allocatedBytes();
    PrefixMatch match = ns.match(prompt);
    Estimate estimate = ns.estimate(match, plan);
    int restorableBefore = ns.match(Prompt.ofTokens(prompt), prompt.length).points().length;

    try (PrefillSession session = ns.prefill(match, plan)) {
      append(session, ns.layout(), prompt, prompt.length);
      appended = counters.appendedBytes.sum() - appended;
      written = counters.recordBytes.sum() - written;
      PrefixMatch after = ns.match(Prompt.ofTokens(prompt), prompt.length);
      assertThat(estimate.restoreBytes())
          .as(what + ": restore")
          .isGreaterThanOrEqualTo(after.bytesToRead());
      assertThat(after.points().length - restorableBefore)
          .as(what + ": points")
          .isEqualTo(estimate.restorePoints());
      session.promptComplete();
    }
    assertThat(appended).as(what + ": appended").isEqualTo(estimate.appendedBytes());
    if (estimate.dataDependent()) {
      assertThat(written).as(what + ": written").isLessThanOrEqualTo(estimate.writtenBytes());
    } else {
      assertThat(written).as(what + ": written").isEqualTo(estimate.writtenBytes());
    }
    assertThat(test.store().stats().allocatedBytes() - allocated)
        .as(what + ": allocated")
        .isLessThanOrEqualTo(estimate.allocatedBytes() + QuotaGate.GROWTH_BYTES);
    test.check();
  }

  /**
   * Any data, among it numbers that no codec takes: then chunks are left raw, and nothing makes it
   * more than the stated most. Where no chunk was, what is written is exact.
   */
  @Test
  void noDataMakesItMoreThanTheMost() {
    for (long seed = 1; seed <= RUNS; seed++) {
      Random random = new Random(seed);
      Layout layout = new RandomLayouts(random).next();
      CodecPlan codecs = codecs(random, layout);
      int[] prompt = random.ints(1 + random.nextInt(30 * layout.blockTokens()), 0, 50).toArray();
      try (TestStore test = new TestStore(TestStore.options("256MiB").build())) {
        Namespace ns = test.namespace(layout, codecs);
        PrefillPlan plan = PrefillPlan.tokens(prompt.length).policy(policy(random));
        Estimate estimate = ns.estimate(ns.match(prompt), plan);
        FakeModel model = new FakeModel(layout);
        int block = layout.blockTokens();
        try (PrefillSession session = ns.prefill(ns.match(prompt), plan)) {
          while (session.tokens() + block <= prompt.length) {
            int from = session.tokens();
            int point = session.nextPointTokens();
            int to = point > from ? point : prompt.length / block * block;
            session.append(Arrays.copyOfRange(prompt, from, to), model.plainViews(prompt, to));
          }
          session.promptComplete();
        }
        StoreStats stats = test.store().stats();
        String what = "seed " + seed;
        assertThat(stats.appendedBytes()).as(what).isEqualTo(estimate.appendedBytes());
        assertThat(stats.recordBytes()).as(what).isLessThanOrEqualTo(estimate.mostWrittenBytes());
        if (stats.chunksLeftRaw() == 0 && !estimate.dataDependent()) {
          assertThat(stats.recordBytes()).as(what).isEqualTo(estimate.writtenBytes());
        }
        test.check();
      }
    }
  }

  /** 203,000 tokens of a hybrid whose state is worth 4,698 tokens of rows: a 192nd. */
  @Test
  void aLongPromptOfAHybrid() {
    Layout layout = FieldLayouts.sparseHybrid192(2_048);
    int[] prompt = new Random(1).ints(203_000, 0, 100_000).toArray();
    for (RestorePolicy policy : new RestorePolicy[] {RestorePolicy.EVERY, RestorePolicy.DEFAULT}) {
      try (TestStore test = new TestStore(TestStore.options("4GiB").build())) {
        Namespace ns = test.namespace(layout);
        Estimate estimate =
            ns.estimate(ns.match(prompt), PrefillPlan.tokens(prompt.length).policy(policy));
        store(ns, PrefillPlan.tokens(prompt.length).policy(policy), prompt);
        long written = test.store().engine().counters.recordBytes.sum();
        assertThat((double) estimate.writtenBytes() / written).isCloseTo(1, within(0.01));
        if (policy == RestorePolicy.EVERY) {
          double field = 99 * 115_458_048.0 + 203_000 * 24_576.0;
          assertThat(written * 192.0 / field).isCloseTo(1, within(0.05));
          assertThat(estimate.restorePoints()).isEqualTo(99);
          assertThat(estimate.widestGapTokens()).isEqualTo(2_048);
        }
      }
    }
  }

  /** Without a store, for one that has nothing of the prompt. */
  @Test
  void anEmptyStoreCostsAsMuchAsNone() {
    Layout layout = FieldLayouts.pooled(64);
    int[] prompt = new Random(1).ints(5_000, 0, 100_000).toArray();
    PrefillPlan plan = PrefillPlan.tokens(prompt.length);
    StoreOptions options = TestStore.options("1GiB").build();
    try (TestStore test = new TestStore(options)) {
      Namespace ns = test.namespace(layout);
      Estimate there = ns.estimate(ns.match(prompt), plan);
      Estimate without = Estimate.of(layout, CodecPlan.RAW, plan, options);
      assertThat(without.writtenBytes()).isEqualTo(there.writtenBytes());
      assertThat(without.appendedBytes()).isEqualTo(there.appendedBytes());
      assertThat(without.restorePoints()).isEqualTo(there.restorePoints());
      assertThat(test.store().stats().boundaries()).isZero();
    }
  }

  /** "As long as it gets" is an obvious thing to say where the length is not known. */
  @Test
  void aPromptAsLongAsOneCanBeIsRefusedAtOnce() {
    Layout layout = FieldLayouts.tinyHybrid(8);
    int[] prompt = new Random(1).ints(20, 0, 100).toArray();
    try (TestStore test = new TestStore(TestStore.options("32MiB").build())) {
      Namespace ns = test.namespace(layout);
      for (int tokens : new int[] {Integer.MAX_VALUE, 1 << 30, 100_000_000}) {
        for (RestorePolicy policy : new RestorePolicy[] {RestorePolicy.EVERY, RestorePolicy.LAST}) {
          PrefillPlan plan = PrefillPlan.tokens(tokens).policy(policy);
          assertThatThrownBy(() -> ns.prefill(ns.match(prompt), plan))
              .isInstanceOf(QuotaExceededException.class);
          assertThatThrownBy(() -> ns.admit(ns.match(prompt), plan))
              .isInstanceOf(RejectedException.class);
        }
      }
      test.check();
    }
  }
}
