package dev.waymark.jmh;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStats;
import dev.waymark.layout.RestorePolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A store that grows from 100 boundaries to very many, and what an append takes on the way. The
 * match in it, its open and its memory have subjects of their own.
 */
final class ScaleBench {
  private static final int APPENDS = 500;
  private static final int SMOKE_APPENDS = 20;

  private ScaleBench() {}

  static void run(Bed bed) throws Exception {
    Path directory = bed.fresh("scale");
    Map<String, List<double[]>> lines = new LinkedHashMap<>();
    for (String percentile : List.of("p50", "p99", "longest")) {
      lines.put(percentile, new ArrayList<>());
    }
    Shape shape = Shape.attention(64);
    int appends = bed.form().isSmoke() ? SMOKE_APPENDS : APPENDS;
    Cache cache = new Cache(shape.layout(), (appends + 1) * shape.layout().blockTokens());
    // Once for nothing: the first calls are interpreted.
    try (SnapshotStore store = open(bed.fresh("warm"))) {
      Namespace namespace = WaymarkContender.namespace(store, shape);
      latencies(store, namespace, shape, cache, appends, 0);
    }
    try (SnapshotStore store = open(directory)) {
      Namespace namespace = WaymarkContender.namespace(store, shape);
      ManyStore many = new ManyStore(store, 64);
      int filler = 0;
      for (long size = 100; size <= bed.form().manyBoundaries(); size *= 10) {
        long missing = size - store.stats().boundaries();
        if (missing > ManyStore.BLOCKS) {
          many.grow(many.boundaries() + missing);
        }
        for (long left = missing; left > 0; left = size - store.stats().boundaries()) {
          latencies(store, namespace, shape, cache, (int) Math.min(appends, left), --filler);
        }
        store.flush();
        double[] micros = latencies(store, namespace, shape, cache, appends, (int) size);
        double at = store.stats().boundaries();
        lines.get("p50").add(new double[] {at, micros[micros.length / 2]});
        lines.get("p99").add(new double[] {at, micros[micros.length * 99 / 100]});
        lines.get("longest").add(new double[] {at, micros[micros.length - 1]});
      }
      add(bed, store, lines);
    } finally {
      Bed.delete(directory);
    }
  }

  private static SnapshotStore open(Path directory) {
    return SnapshotStore.open(directory, StoreOptions.builder().quota("64GiB").build());
  }

  private static void add(Bed bed, SnapshotStore store, Map<String, List<double[]>> lines) {
    StoreStats stats = store.stats();
    Map<String, double[]> force = new LinkedHashMap<>();
    force.put("longest force", new double[] {stats.timings().force().maxNanos() / 1e6});
    bed.add(
        new Report.Row(
            "scale",
            "the longest force while it grew to %,d boundaries".formatted(stats.boundaries()),
            "ms",
            force,
            List.of(),
            "the manifest is written anew inside a force, each time that it has tripled: this bounds"
                + " what that takes. It is %,d bytes now".formatted(stats.manifestBytes())));
    bed.add(
        new Report.Curve(
            "scale",
            "an append of a boundary of 64 KiB while the store grows",
            "boundaries in the store",
            "us",
            lines,
            "the call alone, under GROUP, while the store forces beside it"));
    Map<String, double[]> figures = new LinkedHashMap<>();
    for (double[] point : lines.get("p50")) {
      figures.put("%,.0f boundaries".formatted(point[0]), new double[] {point[1]});
    }
    bed.add(new Report.Row("scale", "p50 of an append of 64 KiB", "us", figures, List.of(), ""));
  }

  /** In order of size, microseconds. */
  private static double[] latencies(
      SnapshotStore store, Namespace namespace, Shape shape, Cache cache, int appends, int prompt) {
    int block = shape.layout().blockTokens();
    int[] tokens = new int[appends * block + 1];
    Arrays.fill(tokens, prompt);
    double[] micros = new double[appends];
    try (PrefillSession session =
        namespace.prefill(
            namespace.match(tokens),
            PrefillPlan.tokens(tokens.length).policy(RestorePolicy.LAST))) {
      for (int i = 0; i < appends; i++) {
        int[] own = Arrays.copyOfRange(tokens, i * block, (i + 1) * block);
        var views = cache.views((i + 1) * block);
        long from = System.nanoTime();
        session.append(own, views);
        micros[i] = (System.nanoTime() - from) / 1e3;
      }
      session.promptComplete();
    }
    store.flush();
    Arrays.sort(micros);
    return micros;
  }
}
