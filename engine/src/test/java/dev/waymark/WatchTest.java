package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.RejectedException;
import dev.waymark.internal.watch.Timer;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a store does is counted, timed, and told to the flight recorder while that records. */
class WatchTest {
  private static final int BLOCK = 16;
  private static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.rows("k", DType.BF16, 1, 4, TensorSpec.TOKEN_AXIS, 64),
          TensorSpec.fixed("s", DType.F32, 4, 64));

  @TempDir Path dir;

  private static int[] prompt(int seed, int tokens) {
    return new Random(seed).ints(tokens, 0, 100_000).toArray();
  }

  /** Fills it until it evicts, restores, is refused, and opens it again. */
  private StoreTimings work(Path store) {
    FakeModel model = new FakeModel(LAYOUT);
    StoreOptions options = TestStore.options("16MiB").build();
    SnapshotStore.open(store, options).close();
    try (SnapshotStore opened = SnapshotStore.open(store, options)) {
      Namespace ns = opened.namespace(TestStore.identity("w"), LAYOUT);
      for (int i = 0; opened.stats().evictedBoundaries() == 0; i++) {
        int[] prompt = prompt(i, 2_001);
        EstimateTest.store(ns, PrefillPlan.tokens(2_001).policy(RestorePolicy.EVERY), prompt);
      }
      int[] small = prompt(-1, 2 * BLOCK);
      try (PrefillSession session = ns.prefill(ns.match(small), PrefillPlan.tokens(2 * BLOCK))) {
        session.append(Arrays.copyOf(small, BLOCK), model.plainViews(small, BLOCK));
        session.promptComplete();
      }
      model.assertRestores(new Random(1), ns.match(small), BLOCK, small);
      int[] huge = prompt(-2, 500_000);
      assertThatThrownBy(() -> ns.admit(ns.match(huge), PrefillPlan.tokens(huge.length)))
          .isInstanceOf(RejectedException.class);
      opened.runOnce();
      StoreStats stats = opened.stats();
      assertThat(stats.matches()).isPositive();
      assertThat(stats.matchHits()).isEqualTo(1);
      return stats.timings();
    }
  }

  @Test
  void everyKindIsTimed() {
    StoreTimings timings = work(dir.resolve("store"));
    for (StoreTimings.Timing timing :
        List.of(
            timings.append(),
            timings.restore(),
            timings.force(),
            timings.evict(),
            timings.reclaim(),
            timings.recover(),
            timings.reject())) {
      assertThat(timing.count()).as("%s", timings).isPositive();
      assertThat(timing.p50Nanos()).isBetween(1L, timing.p99Nanos());
      assertThat(timing.p99Nanos()).isLessThanOrEqualTo(timing.maxNanos());
      assertThat(timing.maxNanos()).isLessThanOrEqualTo(timing.totalNanos());
    }
    assertThat(timings.recover().count()).isEqualTo(1);
    assertThat(timings.restore().count()).isEqualTo(1);
    assertThat(timings.reject().count()).isEqualTo(1);
  }

  @Test
  void theRecorderSeesWhatIsTimedAndNothingOfPromptsOrKeys() throws IOException {
    Path file = dir.resolve("events.jfr");
    Path store = dir.resolve("store");
    StoreTimings timings;
    try (Recording recording = new Recording()) {
      recording.start();
      timings = work(store);
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().startsWith("dev.waymark."))
            .toList();
    var counts =
        events.stream()
            .collect(
                Collectors.groupingBy(
                    event -> event.getEventType().getName().substring("dev.waymark.".length()),
                    TreeMap::new,
                    Collectors.counting()));
    assertThat(counts.keySet())
        .containsExactly("Append", "Evict", "Force", "Reclaim", "Recover", "Reject", "Restore");
    assertThat(counts)
        .containsEntry("Append", timings.append().count())
        .containsEntry("Evict", timings.evict().count())
        .containsEntry("Restore", 1L)
        .containsEntry("Recover", 2L)
        .containsEntry("Reject", 1L);
    for (RecordedEvent event : events) {
      assertThat(event.getDuration()).as("%s", event).isPositive();
      assertThat(event.getString("store")).isEqualTo(store.toString());
      assertThat(event.getLong("bytes")).isNotNegative();
      assertThat(event.getFields().stream().map(ValueDescriptor::getName).toList())
          .isSubsetOf(
              "startTime", "duration", "eventThread", "stackTrace", "store", "bytes", "code");
      assertThat(event.getStackTrace()).isNull();
    }
    assertThat(sum(events, "Append")).isGreaterThan(4L << 20);
    assertThat(sum(events, "Force")).isGreaterThan(sum(events, "Append"));
    assertThat(sum(events, "Restore")).isEqualTo(BLOCK * 512 + 1_024);
    assertThat(sum(events, "Evict")).isPositive();
    assertThat(sum(events, "Reclaim")).isPositive();
    RecordedEvent reject =
        events.stream().filter(e -> e.getEventType().getName().endsWith("Reject")).findAny().get();
    assertThat(reject.getString("code")).isEqualTo("QUOTA");
    assertThat(reject.getLong("bytes")).isGreaterThan(16L << 20);
  }

  private static long sum(List<RecordedEvent> events, String kind) {
    return events.stream()
        .filter(event -> event.getEventType().getName().endsWith("." + kind))
        .mapToLong(event -> event.getLong("bytes"))
        .sum();
  }

  /** A percentile is at most an eighth too high, and never too low. */
  @Test
  void percentilesAreNearTheTruth() {
    Random random = new Random(1);
    for (int run = 0; run < 50; run++) {
      Timer timer = new Timer();
      long[] nanos = new long[1 + random.nextInt(500)];
      for (int i = 0; i < nanos.length; i++) {
        nanos[i] = random.nextLong() >>> (3 + random.nextInt(61));
        timer.add(nanos[i]);
      }
      Arrays.sort(nanos);
      assertThat(timer.count()).isEqualTo(nanos.length);
      assertThat(timer.maxNanos()).isEqualTo(nanos[nanos.length - 1]);
      for (int percent : new int[] {1, 50, 90, 99, 100}) {
        long exact = nanos[(int) Math.ceil(nanos.length * percent / 100.0) - 1];
        assertThat(timer.percentileNanos(percent))
            .isBetween(exact, Math.min(timer.maxNanos(), exact + exact / 8));
      }
    }
    assertThat(new Timer().percentileNanos(50)).isZero();
  }
}
