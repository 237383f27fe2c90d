package dev.waymark.jmh;

import dev.waymark.jmh.Report.Goal;
import dev.waymark.layout.RestorePolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * Durable appends. An append store has no steady state, so every turn is one batch into a store of
 * its own, from the first put until all is durable.
 */
final class AppendBench {
  private static final String WRITE = LimitContender.WRITE;
  private static final long LARGE = 10_000_000;

  /** Small ones that are forced one by one take long enough in smaller numbers. */
  private static final int MOST_BOUNDARIES = 512;

  private static final long WARM_UP_NANOS = 6_000_000_000L;

  private final Bed bed;

  private AppendBench(Bed bed) {
    this.bed = bed;
  }

  static void run(Bed bed) throws Exception {
    AppendBench bench = new AppendBench(bed);
    if (!bed.form().isSmoke()) {
      bench.warmUp();
    }
    for (Shape shape : shapes(bed.form())) {
      bench.row(shape, 1, false, false);
      bench.row(shape, 1, true, false);
    }
    for (Shape shape : crowded(bed.form())) {
      bench.row(shape, 2, false, false);
      bench.row(shape, 4, false, false);
      bench.row(shape, 1, false, true);
    }
  }

  /** A server that runs for days has compiled what it runs: batches of small ones, thrown away. */
  private void warmUp() throws Exception {
    Shape shape = Shape.attention(64);
    Load load = new Load(shape, RestorePolicy.EVERY, 1, MOST_BOUNDARIES, false);
    try (Lanes threads = new Lanes()) {
      for (Contender.Factory factory : contenders()) {
        long end = System.nanoTime() + WARM_UP_NANOS;
        do {
          batch(threads, factory, load, false, false, Map.of());
        } while (System.nanoTime() < end);
      }
    }
  }

  private static List<Shape> shapes(Form form) {
    return switch (form) {
      case SMOKE -> List.of(Shape.attention(64), Shape.smallSliding(256));
      case SHORT -> List.of(Shape.attention(64), Shape.attention(4096), Shape.sparseHybrid(1024));
      case WHOLE ->
          List.of(
              Shape.attention(64),
              Shape.attention(1024),
              Shape.attention(4096),
              Shape.sliding(32),
              Shape.sparseHybrid(1024),
              Shape.denseHybrid(256));
    };
  }

  private static List<Shape> crowded(Form form) {
    return form.isSmoke()
        ? List.of(Shape.attention(64))
        : List.of(Shape.attention(4096), Shape.sliding(32));
  }

  private void row(Shape shape, int lanes, boolean each, boolean beside) throws Exception {
    RestorePolicy policy = RestorePolicy.EVERY;
    int laneCount = beside ? lanes + 1 : lanes;
    int boundaries =
        Math.min(
            MOST_BOUNDARIES / laneCount,
            Load.boundaries(shape, policy, laneCount, bed.form().batchBytes()));
    Load load = new Load(shape, policy, laneCount, boundaries, beside);
    Map<String, List<Double>> restored = new LinkedHashMap<>();
    Map<String, Bed.Turn> turns = new LinkedHashMap<>();
    try (Lanes threads = new Lanes()) {
      for (Contender.Factory factory : contenders()) {
        restored.put(factory.name(), new ArrayList<>());
        turns.put(factory.name(), () -> batch(threads, factory, load, each, beside, restored));
      }
      String name =
          "%s, %s, %s"
              .formatted(
                  shape.name(),
                  each ? "each durable" : "durable at the end",
                  lanes == 1 ? "1 thread" : lanes + " threads");
      Map<String, double[]> appended = bed.turns(turns);
      int rounds = appended.get(WRITE).length;
      String note =
          "%,d boundaries of %,d bytes a turn".formatted(boundaries * lanes, load.boundaryBytes(0));
      bed.add(
          new Report.Row(
              "append",
              beside ? name + ", beside a restore" : name,
              "GB/s",
              appended,
              goals(load.boundaryBytes(0)),
              note));
      if (beside) {
        Map<String, double[]> last = new LinkedHashMap<>();
        restored.forEach(
            (contender, all) ->
                last.put(
                    contender,
                    all.subList(all.size() - rounds, all.size()).stream()
                        .mapToDouble(x -> x)
                        .toArray()));
        bed.add(
            new Report.Row(
                "append",
                name + ", beside it: the restore",
                "GB/s",
                last,
                List.of(),
                "in the row \"" + WRITE + "\" a memcpy runs beside the writes"));
      }
    }
  }

  private static List<Contender.Factory> contenders() {
    List<Contender.Factory> all = new ArrayList<>();
    all.add(WaymarkContender.factory(WaymarkContender.NAME, 1));
    all.add(WaymarkContender.mappedWriter());
    all.add(LimitContender.factory(WRITE));
    all.addAll(Contenders.others());
    return all;
  }

  private static List<Goal> goals(long boundaryBytes) {
    return boundaryBytes >= LARGE
        ? List.of(
            new Goal(WaymarkContender.NAME, List.of(WRITE), true, 0.90),
            new Goal(WaymarkContender.NAME, Contenders.RIVALS, true, 0.95))
        : List.of(new Goal(WaymarkContender.NAME, Contenders.RIVALS, true, 1.2));
  }

  /** Bytes appended in a nanosecond. */
  private double batch(
      Lanes threads,
      Contender.Factory factory,
      Load load,
      boolean each,
      boolean beside,
      Map<String, List<Double>> restored)
      throws Exception {
    Path directory = bed.fresh(factory.name());
    try (Contender contender = factory.open(directory, load, each)) {
      int first = beside ? 1 : 0;
      List<Lanes.Work> work = new ArrayList<>();
      CountDownLatch left = new CountDownLatch(load.lanes() - first);
      LongAccumulator nanos = new LongAccumulator(Math::max, 0);
      LongAccumulator besideNanos = new LongAccumulator(Math::max, 0);
      LongAdder restores = new LongAdder();
      for (int i = first; i < load.lanes(); i++) {
        Contender.Lane lane = contender.lane(i);
        work.add(
            () -> {
              long from = System.nanoTime();
              append(lane, load);
              nanos.accumulate(System.nanoTime() - from);
              left.countDown();
            });
      }
      if (beside) {
        Contender.Lane lane = contender.lane(0);
        append(lane, load);
        work.add(
            () -> {
              long from = System.nanoTime();
              do {
                lane.restore();
                restores.increment();
              } while (left.getCount() > 0);
              besideNanos.accumulate(System.nanoTime() - from);
            });
      }
      threads.run(work);
      if (beside) {
        restored
            .get(factory.name())
            .add((double) restores.sum() * load.laneBytes() / besideNanos.get());
      }
      return (double) (load.lanes() - first) * load.laneBytes() / nanos.get();
    } finally {
      Bed.delete(directory);
    }
  }

  static void append(Contender.Lane lane, Load load) throws Exception {
    for (int i = 0; i < load.boundaries(); i++) {
      lane.put(i);
    }
    lane.complete();
  }
}
