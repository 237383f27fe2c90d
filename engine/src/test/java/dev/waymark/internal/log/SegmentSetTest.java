package dev.waymark.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentSetTest {
  private static final TensorSpec ROWS = TensorSpec.rows("k", DType.BF16, 1, 1, -1, 8);
  private static final Layout LAYOUT = Layout.of(4, ROWS);
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();
  private static final NamespaceDescriptor NAMESPACE =
      new NamespaceDescriptor(
          1,
          BoundaryKey.of(KeyChain.fingerprint(IDENTITY, LAYOUT, CodecPlan.RAW)),
          IDENTITY.toJson(),
          LAYOUT.toJson(),
          CodecPlan.RAW.toJson());

  /** A record of one page. */
  private static final RecordPlan SMALLEST =
      new RecordPlan(
          RecordKind.APPEND,
          1,
          new BoundaryKey(2, 2, 3, 4),
          new BoundaryKey(1, 2, 3, 4),
          0,
          4,
          4,
          0,
          1,
          List.of(
              new PartPlan(
                  0, ROWS, new PartRange(0, 1, 0, 4), ChunkCodecs.of(Codec.RAW, ROWS), false)));

  @Test
  void theLargestSegmentFullOfTheSmallestRecordsIsSealedWithinItsSize(@TempDir Path dir) {
    SegmentSizing sizing = SegmentSizing.ofQuota(Long.MAX_VALUE);
    StateViews views =
        StateViews.builder()
            .put(ROWS, TensorView.packed(ROWS, ByteBuffer.allocateDirect(64), 0, 4))
            .build();
    try (StoreDirectory directory = RealDirectory.openForWriting(dir.resolve("store"), true);
        SegmentSet segments = new SegmentSet(directory, 1, 2, sizing, SpaceGate.OPEN);
        Scratch scratch = new Scratch.Pool(1).take()) {
      // Every run of the segment is out before the first is full.
      List<Run> runs = new ArrayList<>();
      long first = segments.nextSegmentId();
      boolean room = true;
      while (room) {
        Run run = new Run(SegmentKind.APPEND);
        room = write(segments, run, views, scratch).segmentId() == first;
        runs.add(run);
      }
      int records = runs.size() - 1;
      for (Run run : runs.subList(0, records)) {
        while (run.left() >= SMALLEST.maxBytes()) {
          assertThat(write(segments, run, views, scratch).segmentId()).isEqualTo(first);
          records++;
        }
      }
      runs.forEach(segments::release);
      assertThat(records).isGreaterThan(65_000);
      List<SegmentInfo> sealed = segments.sealFull(false);
      assertThat(sealed).hasSize(1);
      assertThat(sealed.get(0).segmentId()).isEqualTo(first);
      assertThat(sealed.get(0).lengthBytes()).isLessThanOrEqualTo(sizing.segmentBytes());
    }
  }

  /** Each thread begins and ends its flights, some with bytes taken ahead and some without. */
  @Test
  void flightsOfManyThreadsGiveBackAllThatTheyTook(@TempDir Path dir) throws Exception {
    int threads = 4;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try (StoreDirectory directory = RealDirectory.openForWriting(dir.resolve("store"), true);
        SegmentSet segments =
            new SegmentSet(directory, 1, 2, SegmentSizing.ofQuota(1 << 24), SpaceGate.OPEN)) {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        boolean ahead = thread % 2 == 0;
        all.add(
            pool.submit(
                () -> {
                  for (int i = 0; i < 200_000; i++) {
                    Flight flight = ahead ? segments.tryTakeOff(1, 1_000) : segments.flight(1_000);
                    flight.close();
                  }
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
      // Beside anything that was left behind there is no room for so much more.
      try (Flight first = segments.tryTakeOff(1, 1_000);
          Flight rest = segments.tryTakeOff(999, 1_000)) {
        assertThat(first).isNotNull();
        assertThat(rest).isNotNull();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private static RecordLocation write(
      SegmentSet segments, Run run, StateViews views, Scratch scratch) {
    return segments.write(
        SMALLEST, views, run, NAMESPACE, scratch, false, segments.flight(Long.MAX_VALUE));
  }
}
