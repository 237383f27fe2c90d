package dev.waymark.jmh;

import dev.waymark.PrefixMatch;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.jmh.Report.Goal;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Prompt;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Matching prompts of 2,020 blocks, drawn from all chains of a large store, beside hashing the same
 * tokens. With keys that the caller made there is no hashing: what is left is the look-up.
 */
final class MatchBench {
  private static final String MATCH = "match";
  private static final String HASH = "SHA-256 of the tokens";
  private static final String LOOK_UP = "match of own keys";
  private static final int PROMPTS = 20;

  private final ManyStore store;
  private final int block;
  private final MessageDigest digest;
  private final ByteBuffer bytes;
  private final List<List<BoundaryKey>> keys = new ArrayList<>();
  private final Random random = new Random(1);

  private MatchBench(ManyStore store, int block) throws Exception {
    this.store = store;
    this.block = block;
    this.digest = MessageDigest.getInstance("SHA-256");
    this.bytes = ByteBuffer.allocate(4 * ManyStore.BLOCKS * block).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < store.chains(); i++) {
      keys.add(store.keys(i));
    }
  }

  static void run(Bed bed) throws Exception {
    List<Integer> blocks = bed.form() == Form.WHOLE ? List.of(64, 512, 2048) : List.of(64, 512);
    Path directory = bed.fresh("match");
    try (SnapshotStore store =
        SnapshotStore.open(directory, StoreOptions.builder().quota("64GiB").build())) {
      List<ManyStore> all = new ArrayList<>();
      for (int block : blocks) {
        ManyStore many = new ManyStore(store, block);
        many.grow(bed.form().manyBoundaries() / blocks.size());
        all.add(many);
      }
      for (int i = 0; i < blocks.size(); i++) {
        row(
            bed,
            new MatchBench(all.get(i), blocks.get(i)),
            blocks.get(i),
            store.stats().boundaries());
      }
    } finally {
      Bed.delete(directory);
    }
  }

  private static void row(Bed bed, MatchBench bench, int block, long boundaries) throws Exception {
    Map<String, Bed.Turn> turns = new LinkedHashMap<>();
    turns.put(MATCH, bench::match);
    turns.put(HASH, bench::hash);
    turns.put(LOOK_UP, bench::lookUp);
    int warmups = 10 * bed.form().warmups();
    bed.add(
        new Report.Row(
            "match",
            "blocks of " + block,
            "ns a block",
            bed.turns(turns, warmups, bed.form().rounds()),
            List.of(
                new Goal(MATCH, List.of(HASH), false, block >= 512 ? 1.2 : 2.0),
                new Goal(LOOK_UP, List.of(), false, 200)),
            "%,d boundaries in the store; %d prompts a turn, of %,d chains"
                .formatted(boundaries, PROMPTS, bench.store.chains())));
  }

  private double match() {
    long nanos = 0;
    for (int i = 0; i < PROMPTS; i++) {
      int[] tokens = store.prompt(random.nextInt(store.chains()));
      long from = System.nanoTime();
      PrefixMatch match = store.namespace().match(tokens);
      nanos += System.nanoTime() - from;
      requireWhole(match);
    }
    return perBlock(nanos);
  }

  private double hash() {
    long nanos = 0;
    for (int i = 0; i < PROMPTS; i++) {
      int[] tokens = store.prompt(random.nextInt(store.chains()));
      long from = System.nanoTime();
      bytes.clear().asIntBuffer().put(tokens, 0, ManyStore.BLOCKS * block);
      digest.update(bytes.array());
      byte[] hash = digest.digest();
      nanos += System.nanoTime() - from;
      if (hash.length != 32) {
        throw new AssertionError();
      }
    }
    return perBlock(nanos);
  }

  private double lookUp() {
    long nanos = 0;
    for (int i = 0; i < PROMPTS; i++) {
      Prompt prompt =
          Prompt.ofKeys(keys.get(random.nextInt(store.chains())), ManyStore.BLOCKS * block + 1);
      long from = System.nanoTime();
      PrefixMatch match = store.namespace().match(prompt);
      nanos += System.nanoTime() - from;
      requireWhole(match);
    }
    return perBlock(nanos);
  }

  private void requireWhole(PrefixMatch match) {
    if (match.restorableTokens() != ManyStore.BLOCKS * block) {
      throw new AssertionError("matched " + match.restorableTokens() + " tokens");
    }
  }

  private static double perBlock(long nanos) {
    return (double) nanos / PROMPTS / ManyStore.BLOCKS;
  }
}
