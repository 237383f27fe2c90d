package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.sim.SimulatedDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Written and allocated bytes grow with what is new, and with nothing else. */
class GrowthTest {
  private static int[] prompt(int seed, int tokens) {
    return new Random(seed).ints(tokens, 0, 100_000).toArray();
  }

  private static PrefillSession prefill(Namespace ns, int[] prompt, RestorePolicy policy) {
    return ns.prefill(ns.match(prompt), PrefillPlan.tokens(prompt.length).policy(policy));
  }

  private static void store(Namespace ns, int[] prompt, RestorePolicy policy) {
    try (PrefillSession session = prefill(ns, prompt, policy)) {
      FieldLayouts.appendZeros(session, ns.layout(), prompt, prompt.length);
      session.promptComplete();
    }
  }

  /** Whole records, as they are written, without the manifest. */
  private static long records(SnapshotStore store) {
    return store.engine().counters.recordBytes.sum();
  }

  /** 84,000 tokens of 164,000 bytes, and on to 92,160: a 512th. */
  @Test
  void rowsAreWrittenOnce() {
    Layout layout = FieldLayouts.dense512(2_048);
    int[] prompt = prompt(1, 45 * 2_048);
    try (TestStore test = new TestStore(TestStore.options("1GiB").build())) {
      Namespace ns = test.namespace(layout);
      PrefillSession session = prefill(ns, prompt, RestorePolicy.DEFAULT);
      long[] written = new long[46];
      for (int block = 1; block <= 45; block++) {
        FieldLayouts.appendZeros(session, layout, prompt, block * 2_048);
        written[block] = records(test.store());
      }
      session.promptComplete();
      session.close();
      assertThat((double) written[41] / layout.rowBytes(0, 41 * 2_048)).isLessThanOrEqualTo(1.05);
      assertThat((double) written[40] / written[20]).isLessThanOrEqualTo(2.1);
      // One more block at 10,240 tokens and at 90,112.
      assertThat((double) (written[45] - written[44]) / (written[6] - written[5]))
          .isCloseTo(1, within(0.01));
    }
  }

  /** 10,240 tokens and then a turn of two blocks; windows of 1,024: a 1,024th. */
  @Test
  void aTurnWritesItsOwnRowsAndWindows() {
    Layout layout = FieldLayouts.sliding(1_024, 1, 4);
    int[] prompt = prompt(1, 12_289);
    try (TestStore test = new TestStore(TestStore.options("1GiB").build())) {
      Namespace ns = test.namespace(layout);
      store(ns, Arrays.copyOf(prompt, 10_240), RestorePolicy.EVERY);
      long cold = records(test.store());
      assertThat((double) cold).isLessThanOrEqualTo(1.05 * 10_066_329_600L / 1_024);
      PrefixMatch match = ns.match(prompt);
      assertThat(match.restorableTokens()).isEqualTo(10_240);
      store(ns, prompt, RestorePolicy.EVERY);
      assertThat((double) records(test.store()) - cold)
          .isLessThanOrEqualTo(1.05 * 2_013_265_920L / 1_024);
    }
  }

  /** The same in blocks smaller than the window: every window row once, where bundles write 4. */
  @Test
  void blocksSmallerThanTheWindowWriteEachRowOnce() {
    Layout layout = FieldLayouts.sliding(256, 1, 4);
    int[] prompt = prompt(1, 10_240);
    try (TestStore test = new TestStore(TestStore.options("1GiB").build())) {
      store(test.namespace(layout), prompt, RestorePolicy.EVERY);
      assertThat(test.store().stats().appendedBytes())
          .isEqualTo(layout.rowBytes(0, 10_240) + layout.windowBytes(0, 256) * 40);
      assertThat((double) records(test.store()))
          .isLessThanOrEqualTo(1.05 * 10_066_329_600L / 1_024);
    }
  }

  /** 43 turns of two blocks of 1,024 each on one chain, by the default policy: a 64th. */
  @Test
  void oldTurnsPointsGiveTheirBytesBack(@TempDir Path dir) {
    Layout layout = FieldLayouts.sliding(1_024, 1, 64);
    int[] prompt = prompt(1, 43 * 2_048 + 1);
    Path path = dir.resolve("store");
    try (SnapshotStore store =
        SnapshotStore.open(path, StoreOptions.builder().quota(148_000_000_000L / 64).build())) {
      Namespace ns = store.namespace(TestStore.identity("w"), layout);
      for (int turn = 1; turn <= 43; turn++) {
        long before = records(store);
        store(ns, Arrays.copyOf(prompt, turn * 2_048 + 1), RestorePolicy.DEFAULT);
        assertThat((double) (records(store) - before))
            .as("written by turn " + turn)
            .isLessThanOrEqualTo(1.05 * 1_174_405_120L / 64);
      }
      assertThat(store.stats().points()).isLessThanOrEqualTo(6);
      assertThat(store.stats().evictedBoundaries()).as("far below the quota").isZero();
      ForestChecker.check(store);
    }
    assertThat((double) allocated(path))
        .isLessThanOrEqualTo(1.05 * (86 * 167_772_160L + 6 * 838_860_800L) / 64);
  }

  /** By the file system's own count. */
  private static long allocated(Path store) {
    try (var files = Files.walk(store)) {
      long bytes = 0;
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Process stat = new ProcessBuilder("stat", "-c", "%b %B", file.toString()).start();
        String[] counts = new String(stat.getInputStream().readAllBytes()).trim().split(" ");
        bytes += Long.parseLong(counts[0]) * Long.parseLong(counts[1]);
      }
      return bytes;
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** 203,000 tokens with a recurrent state of 115 MB: a 192nd. Bundles wrote 126 GB of it. */
  @Test
  void aRecurrentStateIsKeptWhereARestoreCanUseIt() {
    Layout layout = FieldLayouts.sparseHybrid192(2_048);
    int[] prompt = prompt(1, 203_000);
    long rows = 202_752L * 24_576 / 192;
    long every = state(layout, prompt, RestorePolicy.EVERY, CodecPlan.RAW);
    assertThat((double) every).isCloseTo(99 * 115_458_048.0 / 192, Percentage.withPercentage(1));
    assertThat((double) every + rows)
        .isCloseTo((99 * 115_458_048.0 + 203_000.0 * 24_576) / 192, Percentage.withPercentage(5));
    long byDefault = state(layout, prompt, RestorePolicy.DEFAULT, CodecPlan.RAW);
    assertThat((double) every / byDefault).isGreaterThanOrEqualTo(4);
    CodecPlan plan = CodecPlan.RAW;
    for (int i = 0; i < 3; i++) {
      plan = plan.withTensor("state." + i, Codec.RHT_INT8);
    }
    long rotated = state(layout, prompt, RestorePolicy.EVERY, plan);
    assertThat((double) every / rotated).isCloseTo(3.676, within(0.04));
  }

  /** Live bytes of points, without the padding that small sizes show. */
  private static long state(Layout layout, int[] prompt, RestorePolicy policy, CodecPlan codecs) {
    try (TestStore test = new TestStore(TestStore.options("8GiB").build())) {
      store(test.namespace(layout, codecs), prompt, policy);
      assertThat((double) test.store().stats().liveBytes() - points(test.store()))
          .isCloseTo(202_752L * 128, Percentage.withPercentage(1));
      return points(test.store());
    }
  }

  private static long points(SnapshotStore store) {
    return store.engine().forest.namespaces().get(0).pointRecordBytes();
  }

  @Test
  void aPromptStoredTwiceWritesNothingTheSecondTime() {
    Layout layout = FieldLayouts.tinyHybrid(1_024);
    FakeModel model = new FakeModel(layout);
    int[] prompt = prompt(1, 16_047);
    try (TestStore test = new TestStore(TestStore.options("256MiB").build())) {
      Namespace ns = test.namespace(layout);
      for (int start : new int[] {0, PrefillPlan.DEEPEST, 0}) {
        long before = records(test.store());
        PrefillPlan plan = PrefillPlan.tokens(prompt.length).from(start == 0 ? 0 : 15_360);
        try (PrefillSession session = ns.prefill(ns.match(prompt), plan)) {
          while (session.tokens() + 1_024 <= prompt.length) {
            int from = session.tokens();
            session.append(
                Arrays.copyOfRange(prompt, from, from + 1_024),
                model.plainViews(prompt, from + 1_024));
          }
          session.promptComplete();
        }
        if (before > 0) {
          assertThat(records(test.store())).isEqualTo(before);
        }
      }
      PrefixMatch match = ns.match(prompt);
      assertThat(match.restorableTokens()).isEqualTo(15_360);
      model.assertRestores(new Random(1), match, 15_360, prompt);
    }
  }

  /** Four prompts of 8,192 tokens that share nothing: a 64th. */
  @Test
  void unlikePromptsTakeTheSumOfTheirSizes(@TempDir Path dir) {
    Layout layout = FieldLayouts.denseHybrid64(2_048);
    Path path = dir.resolve("store");
    try (SnapshotStore store =
        SnapshotStore.open(path, StoreOptions.builder().quota("1GiB").build())) {
      Namespace ns = store.namespace(TestStore.identity("w"), layout);
      for (int seed = 0; seed < 4; seed++) {
        store(ns, prompt(seed, 8_192), RestorePolicy.EVERY);
      }
      assertThat(store.stats().boundaries()).isEqualTo(16);
    }
    assertThat((double) allocated(path)).isLessThanOrEqualTo(1.05 * 4_610_588_672L / 64);
  }

  /** 12,288 tokens that 20 turns share, each with one block of its own behind. */
  @Test
  void aSharedPrefixCostsTheTwentiethTurnWhatItCostTheFirst() {
    Layout layout = FieldLayouts.tinyHybrid(1_024);
    int[] prefix = prompt(1, 12_288);
    SimulatedDirectory disk = new SimulatedDirectory();
    try (TestStore test = new TestStore(disk, TestStore.options("256MiB").build())) {
      Map<String, Integer> calls = new TreeMap<>();
      test.directory().setYieldPoints(kind -> calls.merge(kind, 1, Integer::sum));
      Namespace ns = test.namespace(layout);
      store(ns, Arrays.copyOf(prefix, 12_289), RestorePolicy.DEFAULT);
      Map<String, Integer> callsOfThird = null;
      long[] written = new long[21];
      int[] forces = new int[21];
      for (int turn = 1; turn <= 20; turn++) {
        int[] prompt = Arrays.copyOf(prefix, 13_313);
        Arrays.fill(prompt, 12_288, 13_313, turn);
        assertThat(ns.match(prompt).storedTokens()).isEqualTo(12_288);
        calls.clear();
        long before = records(test.store());
        store(ns, prompt, RestorePolicy.DEFAULT);
        written[turn] = records(test.store()) - before;
        forces[turn] = calls.get("FORCE");
        // The second turn makes the shared end a branch, and from then on all are alike.
        if (turn == 3) {
          callsOfThird = new TreeMap<>(calls);
        } else if (turn > 3) {
          assertThat(calls).as("calls of turn " + turn).isEqualTo(callsOfThird);
        }
      }
      assertThat(written[20]).isLessThanOrEqualTo(written[1]);
      assertThat(forces[20]).isLessThanOrEqualTo(forces[1]);
      assertThat(ns.match(Arrays.copyOf(prefix, 12_289)).restorableTokens()).isEqualTo(12_288);
      assertThat(test.store().stats().boundaries()).isEqualTo(12 + 20);
    }
  }
}
