package dev.waymark.jmh;

import dev.waymark.jmh.Report.Goal;
import dev.waymark.layout.RestorePolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Restores out of the page cache, verified, beside copying the same bytes in memory. */
final class RestoreBench {
  private static final String COPY = LimitContender.COPY;
  private static final String ONE = WaymarkContender.NAME + ", 1 thread";
  private static final String TWO = WaymarkContender.NAME + ", 2 threads";
  private static final int RESTORES = 3;
  private static final int MOST_BOUNDARIES = 2048;

  private RestoreBench() {}

  static void run(Bed bed) throws Exception {
    List<Shape> shapes =
        switch (bed.form()) {
          case SMOKE -> List.of(Shape.attention(64), Shape.smallSliding(256));
          case SHORT -> List.of(Shape.attention(4096), Shape.sparseHybrid(1024));
          case WHOLE ->
              List.of(
                  Shape.attention(64),
                  Shape.attention(4096),
                  Shape.sparseHybrid(1024),
                  Shape.sliding(256));
        };
    for (Shape shape : shapes) {
      row(bed, shape);
    }
  }

  private static void row(Bed bed, Shape shape) throws Exception {
    RestorePolicy policy = RestorePolicy.LAST;
    int boundaries =
        Math.min(MOST_BOUNDARIES, Load.boundaries(shape, policy, 1, bed.form().batchBytes()));
    Load load = new Load(shape, policy, 1, boundaries, true);
    List<Contender> open = new ArrayList<>();
    List<Path> directories = new ArrayList<>();
    Map<String, Bed.Turn> turns = new LinkedHashMap<>();
    try {
      for (Contender.Factory factory : contenders()) {
        Path directory = bed.fresh(factory.name());
        directories.add(directory);
        Contender contender = factory.open(directory, load, false);
        open.add(contender);
        Contender.Lane lane = contender.lane(0);
        AppendBench.append(lane, load);
        load.lane(0).clearTargets();
        lane.restore();
        load.lane(0).requireRestored(!(contender instanceof WaymarkContender), load.tokens());
        turns.put(factory.name(), () -> rate(lane, load));
      }
      bed.add(
          new Report.Row(
              "restore, cached",
              shape.name(),
              "GB/s",
              bed.turns(turns, 2 * bed.form().warmups(), bed.form().rounds()),
              List.of(
                  new Goal(ONE, List.of(COPY), true, 0.65),
                  new Goal(TWO, List.of(COPY), true, 1.2),
                  new Goal(ONE, List.of(Contenders.LMDB), true, 1.0)),
              "%,d boundaries, %,d bytes a restore".formatted(boundaries, load.laneBytes())));
    } finally {
      for (Contender contender : open) {
        contender.close();
      }
      directories.forEach(Bed::delete);
    }
  }

  private static List<Contender.Factory> contenders() {
    List<Contender.Factory> all = new ArrayList<>();
    all.add(WaymarkContender.factory(ONE, 1));
    all.add(WaymarkContender.factory(TWO, 2));
    all.add(LimitContender.factory(COPY));
    all.add(LimitContender.factory(LimitContender.VERIFIED));
    all.addAll(Contenders.others());
    return all;
  }

  private static double rate(Contender.Lane lane, Load load) throws Exception {
    long from = System.nanoTime();
    for (int i = 0; i < RESTORES; i++) {
      lane.restore();
    }
    return (double) RESTORES * load.laneBytes() / (System.nanoTime() - from);
  }
}
