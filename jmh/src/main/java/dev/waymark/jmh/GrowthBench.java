package dev.waymark.jmh;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.jmh.Report.Goal;
import dev.waymark.layout.RestorePolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Bytes written and time taken for prompts of more and more tokens, under each policy. */
final class GrowthBench {
  private static final String SUBJECT = "growth";
  private static final String BUNDLES = "bundles";
  private static final String CALCULATED = "bundles, calculated";
  private static final int BLOCK = 1_024;
  private static final double MOST_PER_DOUBLING = 2.02;

  private static final Map<String, RestorePolicy> POLICIES = new LinkedHashMap<>();

  static {
    POLICIES.put("EVERY", RestorePolicy.EVERY);
    POLICIES.put("STRIDE(8)", RestorePolicy.stride(8));
    POLICIES.put("LATTICE(25)", RestorePolicy.DEFAULT);
    POLICIES.put("LAST", RestorePolicy.LAST);
  }

  private final Bed bed;
  private final Shape shape;
  private final List<Integer> sizes;
  private final int mostBundled;
  private final Cache cache;
  private final Map<String, Double> written = new HashMap<>();

  private GrowthBench(Bed bed, Shape shape) {
    this.bed = bed;
    this.shape = shape;
    this.sizes = bed.form().isSmoke() ? List.of(8, 16) : List.of(8, 16, 32, 64, 128, 256);
    this.mostBundled =
        switch (bed.form()) {
          case SMOKE -> 8;
          case SHORT -> 32;
          case WHOLE -> 64;
        };
    this.cache = new Cache(shape.layout(), sizes.get(sizes.size() - 1) * BLOCK);
  }

  static void run(Bed bed) throws Exception {
    for (Shape shape :
        List.of(
            Shape.smallDenseHybrid(BLOCK),
            Shape.smallSparseHybrid(BLOCK),
            Shape.smallSliding(BLOCK))) {
      new GrowthBench(bed, shape).measure();
    }
  }

  private void measure() throws Exception {
    Map<String, Bed.Turn> turns = new LinkedHashMap<>();
    for (int size : sizes) {
      POLICIES.forEach((name, policy) -> turns.put(key(name, size), () -> store(name, size)));
      if (size <= mostBundled) {
        turns.put(key(BUNDLES, size), () -> bundles(size));
      }
    }
    Map<String, double[]> seconds =
        bed.turns(turns, bed.form() == Form.WHOLE ? 1 : 0, Math.min(5, bed.form().rounds()));
    Map<String, List<double[]>> bytes = new LinkedHashMap<>();
    Map<String, List<double[]>> time = new LinkedHashMap<>();
    List<String> names = new ArrayList<>(POLICIES.keySet());
    names.add(BUNDLES);
    for (String name : names) {
      for (int size : sizes) {
        double[] all = seconds.get(key(name, size));
        if (all != null) {
          double[] sorted = all.clone();
          Arrays.sort(sorted);
          add(bytes, name, size, written.get(key(name, size)));
          add(time, name, size, sorted[sorted.length / 2]);
        }
      }
    }
    for (int size : sizes) {
      if (size >= mostBundled) {
        add(bytes, CALCULATED, size, Bundles.bytesOfAll(shape.layout(), size) / 1e6);
      }
    }
    String bundled =
        "a bundle a boundary was written up to %dk tokens; beyond that its bytes are calculated"
            .formatted(mostBundled);
    String blocks = shape.name() + ", blocks of 1,024 tokens";
    bed.add(new Report.Curve(SUBJECT, blocks + ": bytes", "tokens", "MB written", bytes, bundled));
    bed.add(new Report.Curve(SUBJECT, blocks + ": time", "tokens", "s, median", time, ""));
    slopes("W", bytes);
    slopes("time", time);
    doublings(bytes);
  }

  private static String key(String name, int size) {
    return name + " " + size;
  }

  private static void add(Map<String, List<double[]>> lines, String name, int size, double value) {
    lines.computeIfAbsent(name, n -> new ArrayList<>()).add(new double[] {1_024.0 * size, value});
  }

  private double store(String name, int size) {
    Path directory = bed.fresh("growth");
    try (SnapshotStore store =
        SnapshotStore.open(directory, StoreOptions.builder().quota("16GiB").build())) {
      Namespace namespace = WaymarkContender.namespace(store, shape);
      int[] prompt = new int[size * BLOCK + 1];
      Arrays.setAll(prompt, i -> i);
      long before = store.stats().writtenBytes();
      long from = System.nanoTime();
      SessionBench.append(
          namespace,
          shape,
          cache,
          prompt,
          PrefillPlan.tokens(prompt.length).policy(POLICIES.get(name)));
      double seconds = (System.nanoTime() - from) / 1e9;
      written.put(key(name, size), (store.stats().writtenBytes() - before) / 1e6);
      return seconds;
    } finally {
      Bed.delete(directory);
    }
  }

  private double bundles(int size) throws Exception {
    Path directory = bed.fresh("bundles");
    try {
      Bundles bundles = new Bundles(directory, shape.layout(), size);
      long from = System.nanoTime();
      for (int i = 1; i <= size; i++) {
        bundles.write(i);
      }
      double seconds = (System.nanoTime() - from) / 1e9;
      long bytes = Os.lengthBytes(directory);
      if (bytes != Bundles.bytesOfAll(shape.layout(), size)) {
        throw new AssertionError("bundles do not have the bytes that are calculated");
      }
      written.put(key(BUNDLES, size), bytes / 1e6);
      return seconds;
    } finally {
      Bed.delete(directory);
    }
  }

  private void slopes(String what, Map<String, List<double[]>> lines) {
    Map<String, double[]> slopes = new LinkedHashMap<>();
    lines.forEach(
        (name, points) -> {
          if (points.size() > 1) {
            slopes.put(name, new double[] {slope(points)});
          }
        });
    bed.add(
        new Report.Row(
            SUBJECT,
            shape.name() + ": slope of " + what + " over tokens",
            "of the logarithms",
            slopes,
            List.of(),
            "1 is linear, 2 quadratic"));
  }

  /** Of the line through the logarithms with the least squares. */
  static double slope(List<double[]> points) {
    double meanX = points.stream().mapToDouble(p -> Math.log(p[0])).average().orElseThrow();
    double meanY = points.stream().mapToDouble(p -> Math.log(p[1])).average().orElseThrow();
    double above = 0;
    double below = 0;
    for (double[] point : points) {
      double x = Math.log(point[0]) - meanX;
      above += x * (Math.log(point[1]) - meanY);
      below += x * x;
    }
    return above / below;
  }

  private void doublings(Map<String, List<double[]>> lines) {
    Map<String, double[]> most = new LinkedHashMap<>();
    List<Goal> goals = new ArrayList<>();
    for (String name : POLICIES.keySet()) {
      List<double[]> points = lines.get(name);
      double ratio = 0;
      for (int i = 1; i < points.size(); i++) {
        ratio = Math.max(ratio, points.get(i)[1] / points.get(i - 1)[1]);
      }
      most.put(name, new double[] {ratio});
      goals.add(new Goal(name, List.of(), false, MOST_PER_DOUBLING));
    }
    bed.add(
        new Report.Row(
            SUBJECT,
            shape.name() + ": W(2n)/W(n)",
            "times",
            most,
            goals,
            "the most of all doublings from %dk to %dk tokens"
                .formatted(sizes.get(0), sizes.get(sizes.size() - 1))));
  }
}
