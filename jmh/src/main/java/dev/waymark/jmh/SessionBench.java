package dev.waymark.jmh;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.jmh.Report.Goal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A coding session of 200 blocks in 20 turns, each of which goes on where the one before ended,
 * stored as a server does it, beside a bundle file for each of its boundaries.
 */
final class SessionBench {
  private static final String BUNDLES = "bundle a boundary";

  private final Shape shape;
  private final int blocks;
  private final int turns;
  private final Cache cache;
  private final int[] tokens;

  private SessionBench(Shape shape, int blocks, int turns) {
    this.shape = shape;
    this.blocks = blocks;
    this.turns = turns;
    this.cache = new Cache(shape.layout(), blocks * shape.layout().blockTokens());
    this.tokens = new int[blocks * shape.layout().blockTokens() + 1];
    Arrays.setAll(tokens, i -> i);
  }

  static void run(Bed bed) throws Exception {
    int blocks = bed.form().isSmoke() ? 20 : 200;
    for (Shape shape :
        List.of(
            Shape.smallDenseHybrid(256), Shape.smallSparseHybrid(256), Shape.smallSliding(256))) {
      new SessionBench(shape, blocks, blocks / 10).rows(bed);
    }
  }

  private void rows(Bed bed) throws Exception {
    Map<String, List<Double>> bytes = new LinkedHashMap<>();
    bytes.put(WaymarkContender.NAME, new ArrayList<>());
    bytes.put(BUNDLES, new ArrayList<>());
    Map<String, Bed.Turn> all = new LinkedHashMap<>();
    all.put(WaymarkContender.NAME, () -> store(bed, bytes));
    all.put(BUNDLES, () -> bundles(bed, bytes));
    Map<String, double[]> seconds =
        bed.turns(all, Math.min(1, bed.form().warmups()), Math.min(5, bed.form().rounds()));
    String name = "%s, %d blocks of 256 tokens in %d turns".formatted(shape.name(), blocks, turns);
    bed.add(
        new Report.Row(
            "session",
            name + ", time",
            "s",
            seconds,
            List.of(new Goal(WaymarkContender.NAME, List.of(BUNDLES), false, 0.1)),
            "match, append, complete; each turn durable at its end, each bundle"
                + " when it is written"));
    Map<String, double[]> written = new LinkedHashMap<>();
    bytes.forEach((who, values) -> written.put(who, values.stream().mapToDouble(x -> x).toArray()));
    bed.add(
        new Report.Row(
            "session",
            name + ", bytes written",
            "MB",
            written,
            List.of(new Goal(WaymarkContender.NAME, List.of(BUNDLES), false, 0.05)),
            "of the store, all that it wrote: records, every copy, and manifests"));
  }

  private double store(Bed bed, Map<String, List<Double>> bytes) {
    Path directory = bed.fresh("session");
    try (SnapshotStore store =
        SnapshotStore.open(directory, StoreOptions.builder().quota("16GiB").build())) {
      Namespace namespace = WaymarkContender.namespace(store, shape);
      long from = System.nanoTime();
      for (int turn = 1; turn <= turns; turn++) {
        turn(namespace, Arrays.copyOf(tokens, blocks / turns * turn * block() + 1));
      }
      double seconds = (System.nanoTime() - from) / 1e9;
      bytes.get(WaymarkContender.NAME).add(store.stats().writtenBytes() / 1e6);
      return seconds;
    } finally {
      Bed.delete(directory);
    }
  }

  private void turn(Namespace namespace, int[] prompt) {
    append(namespace, shape, cache, prompt, PrefillPlan.tokens(prompt.length));
  }

  /** From where the prompt is restorable to its last whole block, a block at a time. */
  static void append(
      Namespace namespace, Shape shape, Cache cache, int[] prompt, PrefillPlan plan) {
    int block = shape.layout().blockTokens();
    try (PrefillSession session = namespace.prefill(namespace.match(prompt), plan)) {
      while (session.tokens() + block <= prompt.length) {
        int to = session.tokens() + block;
        session.append(Arrays.copyOfRange(prompt, to - block, to), cache.views(to));
      }
      session.promptComplete();
    }
  }

  private double bundles(Bed bed, Map<String, List<Double>> bytes) throws Exception {
    Path directory = bed.fresh("bundles");
    try {
      Bundles bundles = new Bundles(directory, shape.layout(), blocks);
      long from = System.nanoTime();
      for (int i = 1; i <= blocks; i++) {
        bundles.write(i);
      }
      double seconds = (System.nanoTime() - from) / 1e9;
      bytes.get(BUNDLES).add(Os.lengthBytes(directory) / 1e6);
      return seconds;
    } finally {
      Bed.delete(directory);
    }
  }

  private int block() {
    return shape.layout().blockTokens();
  }
}
