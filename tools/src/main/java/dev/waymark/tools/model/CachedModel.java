package dev.waymark.tools.model;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.SnapshotStore;
import dev.waymark.error.RestoreMissException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.layout.CodecPlan;

/**
 * A model that answers prompts from what a store has of them, and stores what it computes: what a
 * server does around its own model. Safe for use by several threads, a {@link Turn} each.
 */
public final class CachedModel {
  private static final int MOST_ATTEMPTS = 8;

  final HybridModel model;
  final ModelBinding binding;
  final Namespace namespace;
  private final long bytesOfOneToken;
  private final long bytesOfEachMore;

  /** Puts a model in front of a store, which keeps its state as it is. */
  public CachedModel(HybridModel model, SnapshotStore store, int blockTokens) {
    this(model, store, blockTokens, CodecPlan.RAW);
  }

  /** Puts a model in front of a store, which keeps its state with these codecs. */
  public CachedModel(HybridModel model, SnapshotStore store, int blockTokens, CodecPlan codecs) {
    this.model = model;
    this.binding = new ModelBinding(model.config(), blockTokens);
    this.namespace = store.namespace(binding.identity(), binding.layout(), codecs);
    this.bytesOfOneToken = model.newState(1).bytes();
    this.bytesOfEachMore = model.newState(2).bytes() - bytesOfOneToken;
  }

  /** How the model's state is stored. */
  public ModelBinding binding() {
    return binding;
  }

  /** What is asked of a store for a prompt: what its buffers take is known to the byte. */
  PrefillPlan plan(int promptTokens, int capacityTokens) {
    long bytes = bytesOfOneToken + (capacityTokens - 1) * bytesOfEachMore;
    return PrefillPlan.tokens(promptTokens)
        .memoryBytesPerToken((bytes + promptTokens - 1) / promptTokens);
  }

  /**
   * Begins a request: asks for leave, restores what there is of the prompt, and opens a session for
   * the rest. What was found can be gone before it is held, or turn out damaged; then what is left
   * is looked for again.
   *
   * @param newTokens most tokens that will be generated
   * @throws dev.waymark.error.RejectedException if the prompt fits neither store nor memory
   */
  public Turn begin(int[] prompt, int newTokens) {
    for (int attempt = 1; ; attempt++) {
      try {
        return new Turn(this, prompt, newTokens);
      } catch (StaleMatchException | RestoreMissException e) {
        if (attempt == MOST_ATTEMPTS) {
          throw e;
        }
      }
    }
  }
}
