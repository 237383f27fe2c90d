package dev.waymark.tools;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.tools.model.CachedModel;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ModelConfig;
import dev.waymark.tools.model.Turn;
import java.nio.file.Path;
import java.util.Random;

/** A store with chains of a tiny model, each of another prompt. */
public final class ToyStore {
  private static final int BLOCK_TOKENS = 16;

  private ToyStore() {}

  /** Opens it for writing, and makes it where it is missing. */
  public static SnapshotStore open(Path path) {
    return SnapshotStore.open(path, StoreOptions.builder().quota("64MiB").build());
  }

  /** Serves one prompt of so many tokens. */
  public static void serve(SnapshotStore store, int seed, int tokens) {
    HybridModel model = new HybridModel(ModelConfig.tiny());
    int[] prompt = new Random(seed).ints(tokens, 0, 128).toArray();
    try (Turn turn = new CachedModel(model, store, BLOCK_TOKENS).begin(prompt, 0)) {
      turn.finishPrompt(done -> {});
    }
  }

  /** Makes a store that has served so many prompts, each a block longer than the one before. */
  public static Path make(Path path, int prompts) {
    try (SnapshotStore store = open(path)) {
      for (int i = 0; i < prompts; i++) {
        serve(store, i, 100 + i * BLOCK_TOKENS);
      }
    }
    return path;
  }
}
