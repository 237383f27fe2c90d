package dev.waymark.jmh;

import com.sun.management.ThreadMXBean;
import dev.waymark.layout.RestorePolicy;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Bytes that appends and restores allocate on the heap, after the first have warmed up. */
final class AllocationBench {
  private static final String OWN = "the calling thread";
  private static final String ALL = "all threads";
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** So that what is made for nothing is made. */
  static volatile Object sink;

  private AllocationBench() {}

  static void run(Bed bed) throws Exception {
    int boundaries = bed.form().isSmoke() ? 40 : 1_000;
    for (Shape shape : List.of(Shape.attention(64), Shape.smallSliding(256))) {
      Load load = new Load(shape, RestorePolicy.LAST, 2, boundaries, true);
      Path directory = bed.fresh("allocation");
      try (Contender store =
          WaymarkContender.factory(WaymarkContender.NAME, 1).open(directory, load, false)) {
        Contender.Lane warm = store.lane(1);
        AppendBench.append(warm, load);
        warm.restore();
        Contender.Lane lane = store.lane(0);
        Map<String, double[]> append = allocated(boundaries, () -> AppendBench.append(lane, load));
        append.put(
            "of it the caller's tokens and views",
            allocated(boundaries, () -> views(load, boundaries)).get(OWN));
        Map<String, double[]> restore = allocated(boundaries, lane::restore);
        add(bed, "an append, " + shape.name(), append, boundaries);
        add(bed, "a restore, " + shape.name(), restore, boundaries);
      } finally {
        Bed.delete(directory);
      }
    }
  }

  /** What the caller makes for each append. */
  private static void views(Load load, int boundaries) {
    int block = load.layout().blockTokens();
    for (int i = 1; i <= boundaries; i++) {
      sink = load.lane(0).source().views(i * block);
      sink = Arrays.copyOfRange(load.lane(0).tokens(), (i - 1) * block, i * block);
    }
  }

  private static void add(Bed bed, String name, Map<String, double[]> figures, int boundaries) {
    bed.add(
        new Report.Row(
            "allocation",
            name,
            "bytes a boundary",
            figures,
            List.of(),
            "%,d boundaries".formatted(boundaries)));
  }

  private static Map<String, double[]> allocated(int boundaries, Lanes.Work work) throws Exception {
    long own = THREADS.getCurrentThreadAllocatedBytes();
    long all = all();
    work.run();
    Map<String, double[]> figures = new LinkedHashMap<>();
    double ownBytes = THREADS.getCurrentThreadAllocatedBytes() - own;
    double allBytes = all() - all;
    figures.put(OWN, new double[] {ownBytes / boundaries});
    figures.put(ALL, new double[] {allBytes / boundaries});
    return figures;
  }

  private static long all() {
    long sum = 0;
    for (long bytes : THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds())) {
      sum += Math.max(0, bytes);
    }
    return sum;
  }
}
