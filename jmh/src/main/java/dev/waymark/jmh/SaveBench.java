package dev.waymark.jmh;

import dev.waymark.Durability;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.jmh.Report.Goal;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Saving a request, and closing it, in a store of many entries and in one of few. */
final class SaveBench {
  private static final int FEW = 100;
  private static final int BLOCKS = 16;

  private final Shape shape = Shape.attention(64);
  private final Cache cache = new Cache(shape.layout(), BLOCKS * shape.layout().blockTokens());
  private int requests;

  private SaveBench() {}

  static void run(Bed bed) throws Exception {
    int many = Math.min(100_000, bed.form().manyBoundaries());
    SaveBench bench = new SaveBench();
    Path few = bed.fresh("few");
    Path large = bed.fresh("many");
    try (SnapshotStore a = store(few);
        SnapshotStore b = store(large)) {
      new ManyStore(b, 64).grow(many);
      for (int i = 0; i < FEW / BLOCKS; i++) {
        bench.save(a, Durability.NONE);
      }
      a.flush();
      b.flush();
      for (Durability durability : List.of(Durability.NONE, Durability.GROUP)) {
        bench.row(bed, a, b, many, durability);
      }
    } finally {
      Bed.delete(few);
      Bed.delete(large);
    }
  }

  private static SnapshotStore store(Path directory) {
    return SnapshotStore.open(directory, StoreOptions.builder().quota("32GiB").build());
  }

  private void row(Bed bed, SnapshotStore few, SnapshotStore large, int many, Durability durability)
      throws Exception {
    String first = "%,d entries".formatted(many);
    String second = FEW + " entries";
    int perTurn = bed.form().isSmoke() ? 2 : 30;
    Map<String, Bed.Turn> turns = new LinkedHashMap<>();
    turns.put(first, () -> save(large, durability, perTurn));
    turns.put(second, () -> save(few, durability, perTurn));
    bed.add(
        new Report.Row(
            "save",
            "a request of %d blocks of 64 KiB, %s".formatted(BLOCKS, durability),
            "us a request",
            bed.turns(turns, 5 * bed.form().warmups(), 2 * bed.form().rounds()),
            List.of(new Goal(first, List.of(second), false, 1.05)),
            perTurn + " requests a turn; what is saved is deleted between turns"));
  }

  private double save(SnapshotStore store, Durability durability, int count) {
    long from = System.nanoTime();
    int first = requests;
    for (int i = 0; i < count; i++) {
      save(store, durability);
    }
    double micros = (System.nanoTime() - from) / 1e3 / count;
    store.flush();
    Namespace namespace = WaymarkContender.namespace(store, shape);
    for (int i = first; i < requests; i++) {
      store.maintenance().deleteChain(namespace.match(prompt(i)), false);
    }
    store.flush();
    return micros;
  }

  private void save(SnapshotStore store, Durability durability) {
    int[] tokens = prompt(requests++);
    int block = shape.layout().blockTokens();
    Namespace namespace = WaymarkContender.namespace(store, shape);
    try (PrefillSession session =
        namespace.prefill(
            namespace.match(tokens), PrefillPlan.tokens(tokens.length).durability(durability))) {
      for (int at = 0; at + block < tokens.length; at += block) {
        session.append(Arrays.copyOfRange(tokens, at, at + block), cache.views(at + block));
      }
      session.promptComplete();
    }
  }

  private int[] prompt(int number) {
    int[] tokens = new int[BLOCKS * shape.layout().blockTokens() + 1];
    Arrays.fill(tokens, number);
    return tokens;
  }
}
