package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.error.QuotaException;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.sim.SimulatedDirectory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuotaTest {
  private static final long MIB = 1L << 20;

  /** 16 KiB of rows a block, 1.5 KiB of window a block, 8 KiB of state a point. */
  private final SampleModel model = new SampleModel("one", 1_024, 96, 8_192);

  private final SampleModel other = new SampleModel("two", 1_024, 96, 8_192);
  private SimulatedDirectory disk = new SimulatedDirectory();
  private long nowMillis = 1_700_000_000_000L;

  boolean isPunching() {
    return true;
  }

  private SnapshotStore open(long quota) {
    StoreOptions options =
        StoreOptions.builder()
            .quota(quota)
            .backgroundThread(false)
            .punchHoles(isPunching())
            .build();
    return SnapshotStore.open(disk, options, () -> nowMillis++, YieldPoints.NONE);
  }

  private void closeAndReuse(SnapshotStore store) {
    store.close();
    disk = disk.another();
  }

  static int[] prompt(int seed, int tokens) {
    return new Random(seed).ints(tokens, 0, 50_000).toArray();
  }

  private void within(SnapshotStore store) {
    StoreStats stats = store.stats();
    assertThat(disk.allocatedBytes()).isLessThanOrEqualTo(stats.quotaBytes());
    assertThat(stats.allocatedBytes()).isLessThanOrEqualTo(stats.quotaBytes());
    assertThat(stats.allocatedBytes())
        .isEqualTo(
            stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes());
    assertThat((double) Math.abs(stats.allocatedBytes() - disk.allocatedBytes()))
        .isLessThanOrEqualTo(disk.allocatedBytes() * 0.01 + MIB);
  }

  @Test
  void whatIsStoredNeverExceedsTheQuotaAndTheNewestStays() {
    try (SnapshotStore store = open(16 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 0; i < 60; i++) {
        int[] tokens = prompt(i, 40 * SampleModel.BLOCK + 1);
        model.store(ns, tokens, PrefillPlan.tokens(tokens.length));
        within(store);
        assertThat(model.restoreAndCheck(ns.match(tokens), tokens)).isEqualTo(640);
      }
      StoreStats stats = store.stats();
      assertThat(stats.writeAmplification()).isLessThanOrEqualTo(isPunching() ? 1.1 : 1.5);
      assertThat(stats.evictedBoundaries()).isGreaterThan(1_000);
      assertThat(stats.allocatedBytes()).isGreaterThan(10 * MIB);
      assertThat(ns.match(prompt(0, 641)).storedTokens()).isZero();
      int[] recent = prompt(55, 641);
      assertThat(model.restoreAndCheck(ns.match(recent), recent)).isEqualTo(640);
    }
  }

  @Test
  void whatIsUsedOutlivesWhatIsNot() {
    try (SnapshotStore store = open(16 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      int[] used = prompt(-1, 321);
      model.store(ns, used, PrefillPlan.tokens(321));
      for (int i = 0; i < 100; i++) {
        model.store(ns, prompt(i, 321), PrefillPlan.tokens(321));
        assertThat(model.restoreAndCheck(ns.match(used), used)).isEqualTo(320);
        within(store);
      }
    }
  }

  /** Records much shorter than a page: a copy of them takes as much room as they do. */
  @Test
  void whatIsHeldAndFillsTheStoreIsNotCopiedForNothing() {
    SampleModel small = new SampleModel("small", 16, 0, 0);
    List<PrefillSession> open = new ArrayList<>();
    try (SnapshotStore store = open(16 * MIB)) {
      Namespace ns = store.namespace(small.identity, small.layout);
      for (int refused = 0; refused < 20; ) {
        int[] prompt = prompt(open.size(), 321);
        try {
          PrefillSession session = ns.prefill(ns.match(prompt), PrefillPlan.tokens(321));
          open.add(session);
          FieldLayouts.appendZeros(session, small.layout, prompt, 320);
        } catch (QuotaException e) {
          refused++;
        }
        within(store);
        assertThat(open.size()).isLessThan(1_000);
      }
      assertThat(open).hasSizeGreaterThan(50);
      assertThat(store.stats().copiedBytes()).isLessThanOrEqualTo(store.stats().quotaBytes() / 2);
      open.forEach(PrefillSession::close);
    }
  }

  /** The oldest prompt that stays when the namespace goes that it shares its first segment with. */
  int oldestThatStays() {
    return 1;
  }

  @Test
  void aNamespaceThatNobodyOpenedGoesFirst() {
    SnapshotStore first = open(64 * MIB);
    Namespace mine = first.namespace(model.identity, model.layout);
    model.store(mine, prompt(1, 321), PrefillPlan.tokens(321));
    Namespace foreign = first.namespace(other.identity, other.layout);
    for (int i = 0; i < 100; i++) {
      other.store(foreign, prompt(i, 321), PrefillPlan.tokens(321));
    }
    closeAndReuse(first);
    try (SnapshotStore store = open(64 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 1; i < 110; i++) {
        model.store(ns, prompt(i, 321), PrefillPlan.tokens(321));
        within(store);
      }
      for (int i = oldestThatStays(); i < 110; i++) {
        assertThat(ns.match(prompt(i, 321)).restorableTokens()).isEqualTo(320);
      }
    }
  }

  @Test
  void openingBringsTheStoreBelowALowerQuotaAndSaysWhatWent() {
    SnapshotStore first = open(83 * MIB);
    Namespace old = first.namespace(other.identity, other.layout);
    for (int i = 0; i < 60; i++) {
      other.store(old, prompt(i, 321), PrefillPlan.tokens(321));
    }
    Namespace mine = first.namespace(model.identity, model.layout);
    for (int i = 0; i < 95; i++) {
      model.store(mine, prompt(i, 321), PrefillPlan.tokens(321));
    }
    closeAndReuse(first);
    assertThat(disk.allocatedBytes()).isGreaterThan(70 * MIB);
    try (SnapshotStore store = open(64 * MIB)) {
      within(store);
      EvictionReport went = store.recovery().evicted();
      assertThat(went.boundaries()).isPositive();
      assertThat(went.chains())
          .allMatch(chain -> chain.reason().equals("unused_namespace"))
          .allMatch(
              chain ->
                  chain
                      .namespace()
                      .equals(
                          store.namespace(other.identity, other.layout).abbreviatedFingerprint()));
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 0; i < 95; i++) {
        assertThat(ns.match(prompt(i, 321)).restorableTokens()).isEqualTo(320);
      }
    }
  }

  @Test
  void twoNamespacesShareOneQuota() {
    try (SnapshotStore store = open(45 * MIB)) {
      Namespace a = store.namespace(model.identity, model.layout);
      Namespace b = store.namespace(other.identity, other.layout);
      for (int i = 0; i < 100; i++) {
        int[] tokens = prompt(i, 321);
        SampleModel mine = i % 2 == 0 ? model : other;
        try (PrefillSession session =
            (i % 2 == 0 ? a : b)
                .prefill((i % 2 == 0 ? a : b).match(tokens), PrefillPlan.tokens(321))) {
          for (int to = 16; to <= 320; to += 16) {
            mine.appendRest(session, tokens, to);
            within(store);
          }
          session.promptComplete();
        }
        within(store);
      }
    }
  }

  @Test
  void filledAndEmptiedAHundredTimesItStillTakesMore() {
    try (SnapshotStore store = open(16 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int round = 0; round < 100; round++) {
        List<PrefillSession> sessions = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
          int[] tokens = prompt(round * 100 + i, 321);
          PrefillSession session =
              ns.prefill(
                  ns.match(tokens),
                  PrefillPlan.tokens(321).onAbort(dev.waymark.layout.AbortMode.DISCARD));
          model.appendRest(session, tokens, 320);
          sessions.add(session);
        }
        within(store);
        sessions.forEach(PrefillSession::close);
        StoreStats stats = store.stats();
        assertThat(stats.boundaries()).isZero();
        assertThat(stats.liveBytes()).isZero();
        if (isPunching()) {
          assertThat(stats.deadBytes()).isZero();
        }
        within(store);
      }
      int[] tokens = prompt(-5, 641);
      model.store(ns, tokens, PrefillPlan.tokens(641));
      assertThat(model.restoreAndCheck(ns.match(tokens), tokens)).isEqualTo(640);
    }
  }

  @Test
  void aTurnThatFillsTheQuotaAloneHitsTheTurnBefore() {
    // One prompt fits, two do not.
    try (SnapshotStore store = open(16 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      int[] all = prompt(3, 6_355);
      model.store(ns, java.util.Arrays.copyOf(all, 6_297), PrefillPlan.tokens(6_297));
      within(store);
      int[] second = java.util.Arrays.copyOf(all, 6_320);
      assertThat(ns.match(second).restorableTokens()).isEqualTo(6_288);
      model.store(ns, second, PrefillPlan.tokens(6_320));
      within(store);
      assertThat(ns.match(all).restorableTokens()).isEqualTo(6_304);
      model.store(ns, all, PrefillPlan.tokens(6_355));
      within(store);
      assertThat(model.restoreAndCheck(ns.match(all), all)).isEqualTo(6_352);
    }
  }

  @Test
  void aQuotaLoweredOnAnIdleStoreIsMetByTheCallThatLowersIt() {
    try (SnapshotStore store = open(64 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 0; i < 120; i++) {
        model.store(ns, prompt(i, 321), PrefillPlan.tokens(321));
      }
      assertThat(disk.allocatedBytes()).isGreaterThan(40 * MIB);
      EvictionReport went = store.setQuota(20 * MIB);
      assertThat(went.boundaries()).isPositive();
      assertThat(disk.allocatedBytes()).isLessThanOrEqualTo(20 * MIB);
      within(store);
      assertThat(store.enforce().boundaries()).isZero();
      assertThat(ns.match(prompt(119, 321)).restorableTokens()).isEqualTo(320);
    }
  }

  @Test
  void whatCannotFitIsRefusedBeforeAnythingIsWrittenOrEvicted() {
    try (SnapshotStore store = open(16 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      model.store(ns, prompt(1, 321), PrefillPlan.tokens(321));
      StoreStats before = store.stats();
      int[] large = prompt(2, 40_000);
      QuotaExceededException refused =
          catchThrowableOfType(
              QuotaExceededException.class,
              () -> ns.prefill(ns.match(large), PrefillPlan.tokens(40_000)));
      assertThat(refused.predictedBytes()).isBetween(40_000 * 1_024L, 80_000 * 1_024L);
      assertThat(refused.limitBytes()).isLessThan(16 * MIB);
      assertThat(refused.missingBytes()).isEqualTo(refused.predictedBytes() - refused.limitBytes());
      StoreStats after = store.stats();
      assertThat(after.boundaries()).isEqualTo(before.boundaries());
      assertThat(after.recordBytes()).isEqualTo(before.recordBytes());
      assertThat(after.allocatedBytes()).isEqualTo(before.allocatedBytes());
    }
  }

  @Test
  void whatIsPinnedIsNotEvictedAndSaysSo() {
    try (SnapshotStore store = open(16 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      int[] pinned = prompt(1, 8_001);
      model.store(ns, pinned, PrefillPlan.tokens(8_001));
      int[] next = prompt(2, 8_001);
      try (RestoredState reading = ns.match(pinned).restore()) {
        assertThatThrownBy(() -> ns.prefill(ns.match(next), PrefillPlan.tokens(8_001)))
            .isInstanceOf(QuotaPinnedException.class);
        assertThat(model.check(reading, pinned)).isEqualTo(8_000);
      }
      model.store(ns, next, PrefillPlan.tokens(8_001));
      assertThat(model.restoreAndCheck(ns.match(next), next)).isEqualTo(8_000);
      within(store);
    }
  }

  @Test
  void aRestoreUnderWayDoesNotKeepOthersFromMakingRoom() {
    try (SnapshotStore store = open(16 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      int[] read = prompt(1, 321);
      model.store(ns, read, PrefillPlan.tokens(321));
      try (RestoredState reading = ns.match(read).restore()) {
        for (int i = 10; i < 200; i++) {
          model.store(ns, prompt(i, 321), PrefillPlan.tokens(321));
          within(store);
        }
        assertThat(model.check(reading, read)).isEqualTo(320);
      }
    }
  }

  @Test
  void aNamespaceKeepsToAQuotaOfItsOwn() {
    try (SnapshotStore store = open(64 * MIB)) {
      Namespace a = store.namespace(model.identity, model.layout);
      Namespace b = store.namespace(other.identity, other.layout);
      other.store(b, prompt(1, 321), PrefillPlan.tokens(321));
      a.setQuota(4 * MIB);
      for (int i = 0; i < 60; i++) {
        model.store(a, prompt(i, 321), PrefillPlan.tokens(321));
        assertThat(a.state().recordBytes()).isLessThanOrEqualTo(4 * MIB);
      }
      assertThat(b.match(prompt(1, 321)).restorableTokens()).isEqualTo(320);
      assertThatThrownBy(() -> a.setQuota(65 * MIB)).isInstanceOf(InvalidSettingException.class);
      assertThatThrownBy(() -> a.setQuota(1)).isInstanceOf(InvalidSettingException.class);
      a.setQuota(40 * MIB);
      assertThatThrownBy(() -> store.setQuota(30 * MIB))
          .isInstanceOf(InvalidSettingException.class);
    }
  }

  @Test
  void aPrefillThatIsJustBeginningCountsInItsNamespacesQuota() {
    try (SnapshotStore store = open(64 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      ns.setQuota(4 * MIB);
      PrefillPlan plan = PrefillPlan.tokens(1_601);
      int[] first = prompt(1, 1_601);
      int[] second = prompt(2, 1_601);
      SessionStart beginning = SessionStart.hold(store.engine(), ns, ns.match(first), plan);
      beginning.makeRoom();
      assertThatThrownBy(() -> ns.prefill(ns.match(second), plan))
          .isInstanceOf(QuotaPinnedException.class);
      beginning.abandon();
      model.store(ns, second, plan);
      assertThat(ns.match(second).restorableTokens()).isEqualTo(1_600);
    }
  }

  @Test
  void aQuotaThatCannotBeMetLeavesTheOneBefore() {
    try (SnapshotStore store = open(40 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      int[] read = prompt(1, 16_001);
      model.store(ns, read, PrefillPlan.tokens(16_001));
      try (RestoredState reading = ns.match(read).restore()) {
        assertThatThrownBy(() -> store.setQuota(16 * MIB)).isInstanceOf(QuotaPinnedException.class);
        assertThat(store.stats().quotaBytes()).isEqualTo(40 * MIB);
        within(store);
        assertThat(model.check(reading, read)).isEqualTo(16_000);
      }
      store.setQuota(16 * MIB);
      within(store);
    }
  }

  @Test
  void aDeletedNamespacesQuotaStandsInNobodysWay() {
    try (SnapshotStore store = open(64 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      ns.setQuota(40 * MIB);
      store.maintenance().deleteNamespace(ns, false);
      store.setQuota(20 * MIB);
      within(store);
    }
  }

  @Test
  void filesOfOthersCountWhenTheStoreIsToldToEnforce() {
    try (SnapshotStore store = open(32 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 0; i < 80; i++) {
        model.store(ns, prompt(i, 321), PrefillPlan.tokens(321));
      }
      try (StoreFile file = disk.another().create("quarantine/foreign")) {
        file.allocate(0, 12 * MIB);
      }
      assertThat(store.enforce().boundaries()).isPositive();
      within(store);
      assertThat(ns.match(prompt(79, 321)).restorableTokens()).isEqualTo(320);
      model.store(ns, prompt(80, 321), PrefillPlan.tokens(321));
      within(store);
    }
  }

  @Test
  void anAutomaticQuotaIsAShareOfWhatIsFreeAndSaysHowMuch() {
    disk.setCapacityBytes(100 * MIB);
    try (SnapshotStore store = open(StoreOptions.AUTO_QUOTA)) {
      assertThat(store.stats().quotaBytes()).isBetween(79 * MIB, 80 * MIB);
    }
    disk = disk.another();
    disk.setCapacityBytes(10 * MIB);
    assertThatThrownBy(() -> open(StoreOptions.AUTO_QUOTA)).isInstanceOf(DiskFullException.class);
    disk = new SimulatedDirectory();
    disk.setCapacityBytes(10 * MIB);
    assertThatThrownBy(() -> open(StoreOptions.AUTO_QUOTA)).isInstanceOf(DiskFullException.class);
    assertThat(disk.another().list()).isEmpty();
  }

  @Test
  void anAutomaticQuotaOfADirectoryThatIsNotThereYetIsThatOfItsFileSystem(@TempDir Path dir) {
    long before = dir.toFile().getUsableSpace();
    StoreOptions options = StoreOptions.builder().backgroundThread(false).build();
    try (SnapshotStore store = SnapshotStore.open(dir.resolve("a/b/c"), options)) {
      // Others use the file system meanwhile.
      assertThat(store.stats().quotaBytes()).isBetween(before / 10 * 7, before / 10 * 9);
    }
  }

  @Test
  void oneSmallBoundaryTakesLittle() {
    try (SnapshotStore store = open(64 * MIB)) {
      Namespace ns = store.namespace(model.identity, model.layout);
      model.store(ns, prompt(1, 17), PrefillPlan.tokens(17).policy(RestorePolicy.EVERY));
      within(store);
      assertThat(store.stats().reservedBytes()).isLessThan(2 * MIB);
      closeAndReuse(store);
    }
    assertThat(disk.allocatedBytes()).isLessThan(256 << 10);
  }
}
