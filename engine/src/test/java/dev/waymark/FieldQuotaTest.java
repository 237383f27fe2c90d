package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.io.YieldPoints;
import dev.waymark.layout.Layout;
import dev.waymark.sim.SimulatedDirectory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Quotas at the values at which servers were seen to fail; a gigabyte is a megabyte here. */
class FieldQuotaTest {
  private static final long MIB = 1L << 20;
  private static final long SLACK_BYTES = 32 << 10;

  private final SampleModel model = new SampleModel("mine", 1_024, 96, 8_192);
  private final SampleModel older = new SampleModel("older", 1_024, 96, 8_192);
  private final SampleModel oldest = new SampleModel("oldest", 1_024, 96, 8_192);
  private SimulatedDirectory disk = new SimulatedDirectory();
  private long nowMillis = 1_700_000_000_000L;

  private SnapshotStore open(long quota, boolean punching) {
    StoreOptions options =
        StoreOptions.builder().quota(quota).backgroundThread(false).punchHoles(punching).build();
    return SnapshotStore.open(disk, options, () -> nowMillis++, YieldPoints.NONE);
  }

  private Namespace namespace(SnapshotStore store, SampleModel of) {
    return store.namespace(of.identity, of.layout);
  }

  private void within(SnapshotStore store) {
    StoreStats stats = store.stats();
    assertThat(disk.allocatedBytes()).isLessThanOrEqualTo(stats.quotaBytes());
    assertThat(stats.allocatedBytes())
        .isEqualTo(
            stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes());
    assertThat(Math.abs(stats.allocatedBytes() - disk.allocatedBytes())).isLessThan(SLACK_BYTES);
  }

  /** Appends prompts until so many bytes of records were written; looks after every append. */
  private List<int[]> write(SnapshotStore store, SampleModel of, int seed, long bytes) {
    Namespace ns = namespace(store, of);
    List<int[]> prompts = new ArrayList<>();
    long until = store.stats().recordBytes() + bytes;
    while (store.stats().recordBytes() < until) {
      int[] tokens = QuotaTest.prompt(seed + prompts.size(), 641);
      try (PrefillSession session = ns.prefill(ns.match(tokens), PrefillPlan.tokens(641))) {
        for (int to = 16; to <= 640; to += 16) {
          of.appendRest(session, tokens, to);
          within(store);
        }
        session.promptComplete();
      }
      within(store);
      prompts.add(tokens);
    }
    return prompts;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aStoreOpenedUnderALowerQuotaLosesTheOldestNamespaceThatNobodyUsed(boolean punching) {
    List<int[]> prompts;
    try (SnapshotStore first = open(100 * MIB, punching)) {
      write(first, oldest, 0, 20 * MIB);
      write(first, older, 0, 20 * MIB);
      prompts = write(first, model, 0, 43 * MIB);
      assertThat(first.stats().recordBytes()).isGreaterThan(83 * MIB);
      assertThat(first.stats().evictedBoundaries()).isZero();
    }
    disk = disk.another();
    try (SnapshotStore store = open(64 * MIB, punching)) {
      within(store);
      EvictionReport went = store.recovery().evicted();
      assertThat(went.freedBytes()).isGreaterThan(15 * MIB);
      Namespace a = namespace(store, oldest);
      Namespace b = namespace(store, older);
      List<String> names = went.chains().stream().map(EvictionReport.Chain::namespace).toList();
      assertThat(names).isSubsetOf(a.abbreviatedFingerprint(), b.abbreviatedFingerprint());
      assertThat(names.indexOf(b.abbreviatedFingerprint()))
          .as("the second begins where the first ended")
          .isIn(-1, names.lastIndexOf(a.abbreviatedFingerprint()) + 1);
      Namespace mine = namespace(store, model);
      for (int[] tokens : prompts.subList(punching ? 0 : 1, prompts.size())) {
        assertThat(model.restoreAndCheck(mine.match(tokens), tokens)).isEqualTo(640);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void twoNamespacesThatDoNotBothFit(boolean punching) {
    try (SnapshotStore store = open(45 * MIB, punching)) {
      write(store, older, 0, 30 * MIB);
      assertThat(store.stats().evictedBoundaries()).isZero();
      List<int[]> prompts = write(store, model, 0, 33 * MIB);
      assertThat(store.stats().evictedBoundaries()).isPositive();
      Namespace mine = namespace(store, model);
      for (int[] tokens : prompts) {
        assertThat(mine.match(tokens).restorableTokens()).isEqualTo(640);
      }
      ForestChecker.check(store);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void filledAndDeletedAHundredTimes(boolean punching) {
    Layout layout = FieldLayouts.dense512(1_024);
    try (SnapshotStore store = open(16 * MIB, punching)) {
      for (int round = 0; round < 100; round++) {
        Namespace ns = store.namespace(TestStore.identity("w"), layout);
        int[] last = null;
        for (int i = 0; i < 4; i++) {
          last = QuotaTest.prompt(round * 10 + i, 10_241);
          try (PrefillSession session = ns.prefill(ns.match(last), PrefillPlan.tokens(10_241))) {
            FieldLayouts.appendZeros(session, layout, last, 10_241);
            session.promptComplete();
          }
        }
        within(store);
        assertThat(store.stats().allocatedBytes()).isGreaterThan(12 * MIB);
        assertThat(ns.match(last).restorableTokens()).isEqualTo(10_240);
        store.maintenance().deleteNamespace(ns, false);
        within(store);
        ForestChecker.check(store);
        StoreStats stats = store.stats();
        assertThat(stats.boundaries()).isZero();
        assertThat(stats.liveBytes()).isZero();
        assertThat(stats.deadBytes()).isZero();
      }
    }
    disk = disk.another();
    assertThat(disk.allocatedBytes()).as("two steps of the manifest").isLessThan(600 << 10);
  }

  /** 16 attention and 48 recurrent layers, a 64th: 7 MB of rows and 2.4 MB for each point. */
  @ParameterizedTest
  @ValueSource(ints = {16, 64, 256})
  void aTurnHitsTheTurnBeforeWhereOnlyOnePromptFits(int block) {
    Layout layout = FieldLayouts.denseHybrid64(block);
    int[] all = QuotaTest.prompt(1, 6_355);
    try (SnapshotStore store = open(24 * MIB, true)) {
      Namespace ns = store.namespace(TestStore.identity("w"), layout);
      int before = 0;
      for (int turn : new int[] {6_297, 6_320, 6_355}) {
        int[] tokens = Arrays.copyOf(all, turn);
        PrefixMatch match = ns.match(tokens);
        assertThat(match.restorableTokens()).isEqualTo(before);
        try (PrefillSession session = ns.prefill(match, PrefillPlan.tokens(turn))) {
          FieldLayouts.appendZeros(session, layout, tokens, turn);
          session.promptComplete();
        }
        within(store);
        assertThat(store.stats().allocatedBytes()).isGreaterThan(12 * MIB);
        before = (turn - 1) / block * block;
        assertThat(ns.match(tokens).restorableTokens()).isEqualTo(before);
      }
      int[] another = QuotaTest.prompt(2, 6_297);
      try (PrefillSession session = ns.prefill(ns.match(another), PrefillPlan.tokens(6_297))) {
        FieldLayouts.appendZeros(session, layout, another, 6_297);
        session.promptComplete();
      }
      assertThat(ns.match(another).restorableTokens()).isEqualTo(6_296 / block * block);
      assertThat(ns.match(all).restorableTokens()).as("two do not fit").isLessThan(before);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aQuotaLoweredOnAnIdleStore(boolean punching) {
    try (SnapshotStore store = open(100 * MIB, punching)) {
      write(store, model, 0, 80 * MIB);
      for (long quota : new long[] {64, 45, 30, 16}) {
        store.setQuota(quota * MIB);
        within(store);
        assertThat(disk.allocatedBytes()).isLessThanOrEqualTo(quota * MIB);
        ForestChecker.check(store);
      }
    }
  }
}
