package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What waits for a force is bounded, however large a boundary is and however many append. */
class InFlightTest {
  private static final long MIB = 1L << 20;
  private static final long MOST = 4 * MIB;

  /** Headers of segments, and descriptions of namespaces, come on top. */
  private static final long FRAMING = MIB / 2;

  /** 24 MiB of rows, window and state a boundary, in segments of 1 MiB. */
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 256, -1, 4_096),
          TensorSpec.window("w", DType.BF16, 4, 0, 256, -1, 4_096),
          TensorSpec.fixed("s", DType.F32, 2, 1_024, 1_024));

  @TempDir Path dir;

  private SnapshotStore open(InFlightDirectory directory) {
    StoreOptions options =
        StoreOptions.builder().quota("256MiB").group(MIB, 60_000).maxInFlight(MOST).build();
    return SnapshotStore.open(directory, options, System::currentTimeMillis, YieldPoints.NONE);
  }

  private InFlightDirectory directory() {
    return new InFlightDirectory(RealDirectory.openForWriting(dir.resolve("store"), true));
  }

  private void append(Namespace ns, int[] prompt, Durability durability) {
    PrefillPlan plan =
        PrefillPlan.tokens(prompt.length).policy(RestorePolicy.EVERY).durability(durability);
    try (PrefillSession session = ns.prefill(ns.match(new int[0]), plan)) {
      session.append(prompt, FieldLayouts.zeros(LAYOUT, 0, prompt.length));
      session.promptComplete();
    }
  }

  @ParameterizedTest
  @EnumSource(Durability.class)
  void withinOneBoundary(Durability durability) {
    InFlightDirectory directory = directory();
    try (SnapshotStore store = open(directory)) {
      Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
      int[] prompt = {1, 2, 3, 4};
      append(ns, prompt, durability);
      assertThat(directory.mostBytes()).isBetween(MIB, MOST + FRAMING);
      assertThat(store.stats().appendedBytes()).isGreaterThan(5 * MOST);
      assertThat(ns.match(Prompt.ofTokens(prompt), 4).points()).containsExactly(4);
      ForestChecker.check(store);
    }
  }

  @Test
  void whileSeveralAppend() {
    InFlightDirectory directory = directory();
    try (SnapshotStore store = open(directory)) {
      Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
      List<Thread> threads =
          IntStream.range(0, 4)
              .mapToObj(
                  i ->
                      new Thread(
                          () ->
                              append(
                                  ns,
                                  new Random(10 + i).ints(4, 0, 1_000).toArray(),
                                  Durability.GROUP)))
              .toList();
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      assertThat(store.stats().boundaries()).isEqualTo(4);
      assertThat(directory.mostBytes()).isLessThanOrEqualTo(MOST + FRAMING);
    }
  }

  @Test
  void aRecordIsSmallBesideWhatMayBeInFlight() {
    long inFlight = StoreOptions.builder().build().maxInFlightBytes();
    for (long quota = StoreOptions.MIN_QUOTA_BYTES; quota < 1L << 50; quota *= 2) {
      assertThat(SegmentSizing.ofQuota(quota).maxRecordBytes()).isLessThan(inFlight / 4);
    }
  }
}
