package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.error.ClosedException;
import dev.waymark.error.RejectedException;
import dev.waymark.error.Rejection;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What cannot end is refused before its first byte, or as soon as that shows. */
class AdmissionTest {
  private static final int BLOCK = 16;
  private static final int LONGEST_RUNS = Integer.getInteger("runs", 100);
  private static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.rows("k", DType.BF16, 1, 4, TensorSpec.TOKEN_AXIS, 64),
          TensorSpec.fixed("s", DType.F32, 4, 64));

  private static int[] prompt(int seed, int tokens) {
    return new Random(seed).ints(tokens, 0, 100_000).toArray();
  }

  private static Admission admit(Namespace ns, int[] prompt) {
    return ns.admit(ns.match(prompt), PrefillPlan.tokens(prompt.length));
  }

  private static RejectedException rejected(Namespace ns, int[] prompt) {
    return catchThrowableOfType(RejectedException.class, () -> admit(ns, prompt));
  }

  @Test
  void whatDoesNotFitTheQuotaIsRefusedWithWhatWould() {
    try (TestStore test = new TestStore(TestStore.options("32MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      int[] prompt = prompt(1, 100_000);
      var before = test.state();
      RejectedException refused = rejected(ns, prompt);
      assertThat(refused.rejection()).isEqualTo(Rejection.QUOTA);
      assertThat(refused.httpStatus()).isEqualTo(507);
      assertThat(refused.predictedBytes() - refused.limitBytes()).isEqualTo(refused.missingBytes());
      assertThat(refused.predictedBytes()).isGreaterThan(32 << 20);
      assertThat(refused.longestTokens()).isBetween(20_000, 60_000);
      assertThat(refused).hasMessageContaining("store " + refused.longestTokens() + " tokens");
      assertThat(test.state()).isEqualTo(before);
      test.check();

      int[] fits = prompt(1, refused.longestTokens());
      try (Admission admission = admit(ns, fits);
          PrefillSession session = admission.prefill()) {
        EstimateTest.append(session, LAYOUT, fits, fits.length);
        session.promptComplete();
      }
      assertThat(test.store().stats().boundaries()).isEqualTo(fits.length / BLOCK);
    }
  }

  /** Nothing goes before the first byte; then as much as it takes, and the prefill never waits. */
  @Test
  void admissionCountsOnWhatCanBeEvictedAndEvictsNothing() {
    try (TestStore test = new TestStore(TestStore.options("32MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      for (int i = 0; i < 12; i++) {
        EstimateTest.store(ns, PrefillPlan.tokens(4_000), prompt(i, 4_000));
      }
      long evicted = test.store().stats().evictedBoundaries();
      long boundaries = test.store().stats().boundaries();
      int[] prompt = prompt(99, 20_000);
      try (Admission admission = admit(ns, prompt)) {
        assertThat(test.store().stats().evictedBoundaries()).isEqualTo(evicted);
        assertThat(test.store().stats().boundaries()).isEqualTo(boundaries);
        try (PrefillSession session = admission.prefill()) {
          assertThat(test.store().stats().evictedBoundaries()).isGreaterThan(evicted);
          EstimateTest.append(session, LAYOUT, prompt, prompt.length);
          session.promptComplete();
        }
      }
      assertThat(ns.match(prompt).storedTokens()).isEqualTo(prompt.length / BLOCK * BLOCK);
      test.check();
    }
  }

  /** What is promised to one is neither promised nor given to another. */
  @Test
  void promisesTogetherFitTheQuota() {
    try (TestStore test = new TestStore(TestStore.options("32MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      List<Admission> admitted = new ArrayList<>();
      List<int[]> prompts = new ArrayList<>();
      RejectedException refused = null;
      for (int i = 0; refused == null && i < 100; i++) {
        int[] prompt = prompt(i, 8_000);
        try {
          admitted.add(admit(ns, prompt));
          prompts.add(prompt);
        } catch (RejectedException e) {
          refused = e;
        }
      }
      assertThat(refused).isNotNull();
      assertThat(refused.rejection()).isEqualTo(Rejection.QUOTA_PINNED);
      assertThat(refused.httpStatus()).isEqualTo(429);
      assertThat(admitted).hasSizeGreaterThan(1);
      // Nor can a prefill without admission take it.
      int[] other = prompt(500, 8_000);
      assertThatThrownBy(() -> ns.prefill(ns.match(other), PrefillPlan.tokens(other.length)))
          .isInstanceOf(dev.waymark.error.QuotaPinnedException.class);
      for (int i = 0; i < admitted.size(); i++) {
        try (Admission admission = admitted.get(i);
            PrefillSession session = admission.prefill()) {
          EstimateTest.append(session, LAYOUT, prompts.get(i), 8_000);
          session.promptComplete();
        }
      }
      assertThat(test.store().stats().evictedBoundaries()).isZero();
      // All was given back.
      admit(ns, other).close();
      test.check();
    }
  }

  @Test
  void theMemoryBudgetIsShared() {
    Layout layout = LAYOUT;
    long each = Estimate.memoryBytes(layout, 1_000);
    StoreOptions options = TestStore.options("256MiB").memoryBudget(3 * each - 1).build();
    try (TestStore test = new TestStore(options)) {
      Namespace ns = test.namespace(layout);
      Admission one = admit(ns, prompt(1, 1_000));
      Admission two = admit(ns, prompt(2, 1_000));
      RejectedException refused = rejected(ns, prompt(3, 1_000));
      assertThat(refused.rejection()).isEqualTo(Rejection.MEMORY_IN_USE);
      assertThat(refused.rejection().isForNow()).isTrue();
      assertThat(refused.longestTokens()).isEqualTo(999);
      admit(ns, prompt(3, 999)).close();
      one.close();
      one.close();
      admit(ns, prompt(3, 1_000)).close();
      RejectedException never = rejected(ns, prompt(3, 5_000));
      assertThat(never.rejection()).isEqualTo(Rejection.MEMORY);
      assertThat(never.httpStatus()).isEqualTo(413);
      try (Admission admission = admit(ns, prompt(3, 1_000))) {
        // Where no prompt fits, none that is shorter is asked for.
        assertThatThrownBy(() -> admission.progress(1, Long.MAX_VALUE / 2))
            .hasMessageContaining("raise the budget")
            .hasMessageNotContaining("shorten");
      }
      two.close();
      assertThat(test.store().engine().memory.takenBytes()).isZero();
    }
  }

  /**
   * 27 KB a token predicted, 237 KB measured: 203,000 tokens, blocks of 2,048, a budget of 24 GB.
   */
  @Test
  void aPrefillThatCostsMoreThanPredictedIsStoppedEarly() {
    StoreOptions options = TestStore.options("256MiB").memoryBudget(24L << 30).build();
    try (TestStore test = new TestStore(options)) {
      Namespace ns = test.namespace(LAYOUT);
      int[] prompt = prompt(1, 203_000);
      PrefillPlan plan = PrefillPlan.tokens(prompt.length).memoryBytesPerToken(27_000);
      try (Admission admission = ns.admit(ns.match(prompt), plan)) {
        int refusedAt = 0;
        for (int tokens = 2_048; refusedAt == 0 && tokens < prompt.length; tokens += 2_048) {
          // The first block has what is allocated once.
          long inUse = 115_458_048 + tokens * 237_000L;
          try {
            admission.progress(tokens, inUse);
          } catch (RejectedException e) {
            refusedAt = tokens;
            assertThat(e.rejection()).isEqualTo(Rejection.MEMORY);
            assertThat(e).hasMessageContaining("5481000000 were predicted");
            assertThat(e.predictedBytes()).isBetween(48_000_000_000L, 48_500_000_000L);
            assertThat(e.longestTokens()).isBetween(100_000, 108_800);
          }
        }
        assertThat(refusedAt).isBetween(1, prompt.length / 20);
      }
      assertThat(test.store().engine().memory.takenBytes()).isZero();
    }
  }

  /** A block that costs once what the others do not is not taken for the slope. */
  @Test
  void aNoisyFirstBlockStopsNothing() {
    StoreOptions options = TestStore.options("256MiB").memoryBudget(6L << 30).build();
    try (TestStore test = new TestStore(options)) {
      Namespace ns = test.namespace(LAYOUT);
      int[] prompt = prompt(1, 203_000);
      PrefillPlan plan = PrefillPlan.tokens(prompt.length).memoryBytesPerToken(27_000);
      for (long seed = 1; seed <= 20; seed++) {
        Random random = new Random(seed);
        try (Admission admission = ns.admit(ns.match(prompt), plan)) {
          long once = 1L << 29;
          for (int tokens = 2_048; tokens < prompt.length; tokens += 2_048) {
            long noise = random.nextInt(2_000_000);
            // Half of what was allocated once is let go after the first block.
            admission.progress(tokens, once + tokens * 27_000L + noise);
            once = 1L << 28;
          }
        }
      }
    }
  }

  @Test
  void anAdmissionIsForOnePrefill() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      int[] prompt = prompt(1, 100);
      Admission admission = admit(ns, prompt);
      admission.prefill().close();
      assertThatThrownBy(admission::prefill).isInstanceOf(ClosedException.class);
      admission.close();
      Admission closed = admit(ns, prompt);
      closed.close();
      assertThatThrownBy(closed::prefill).isInstanceOf(ClosedException.class);
      assertThatThrownBy(() -> closed.progress(1, 1)).isInstanceOf(ClosedException.class);
      test.check();
    }
  }

  @Test
  void theDaysWriteBudgetIsALimitToo() {
    StoreOptions options = TestStore.options("256MiB").writeBudget(4L << 20).build();
    try (TestStore test = new TestStore(options)) {
      Namespace ns = test.namespace(LAYOUT);
      RejectedException refused = rejected(ns, prompt(1, 20_000));
      assertThat(refused.rejection()).isEqualTo(Rejection.WRITE_BUDGET);
      assertThat(refused.longestTokens()).isBetween(4_000, 8_000);
      admit(ns, prompt(1, refused.longestTokens())).close();
    }
  }

  /**
   * Whichever limit refuses, the longest prompt that is named keeps to all of them, and a block
   * more does not: the cost of this layout under this policy only rises.
   */
  @Test
  void theLongestIsAdmittedAndABlockMoreIsNot() {
    Set<Rejection> seen = EnumSet.noneOf(Rejection.class);
    for (long seed = 1; seed <= LONGEST_RUNS; seed++) {
      Random random = new Random(seed);
      StoreOptions.Builder options =
          TestStore.options((16 + random.nextInt(48)) + "MiB")
              .memoryBudget((1L << 20) + random.nextInt(40 << 20));
      if (random.nextBoolean()) {
        options.writeBudget((1L << 20) + random.nextInt(40 << 20));
      }
      try (TestStore test = new TestStore(options.build())) {
        Namespace ns = test.namespace(LAYOUT);
        if (random.nextBoolean()) {
          ns.setQuota((1L << 20) + random.nextInt(6 << 20));
        }
        List<Admission> others = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
          int[] other = prompt(1_000 + i, 1 + random.nextInt(1_000));
          others.add(admit(ns, other));
        }
        int[] prompt = prompt(1, 4_000 + random.nextInt(120_000));
        RejectedException refused = rejected(ns, prompt, RestorePolicy.LAST);
        if (refused != null) {
          String what = "seed " + seed + ": " + refused;
          seen.add(refused.rejection());
          int longest = refused.longestTokens();
          int more = Math.min(prompt.length, longest + BLOCK);
          assertThat(longest).as(what).isBetween(1, prompt.length - 1);
          assertThat(rejected(ns, prompt(1, longest), RestorePolicy.LAST)).as(what).isNull();
          assertThat(rejected(ns, prompt(1, more), RestorePolicy.LAST)).as(what).isNotNull();
        }
        others.forEach(Admission::close);
        test.check();
      }
    }
    assertThat(seen).contains(Rejection.QUOTA, Rejection.MEMORY, Rejection.WRITE_BUDGET);
  }

  private static RejectedException rejected(Namespace ns, int[] prompt, RestorePolicy policy) {
    PrefillPlan plan = PrefillPlan.tokens(prompt.length).policy(policy);
    return catchThrowableOfType(
        RejectedException.class, () -> ns.admit(ns.match(prompt), plan).close());
  }
}
