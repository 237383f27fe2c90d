package dev.waymark.tools.model;

import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;
import dev.waymark.layout.CodecPlan;

/**
 * A model that answers prompts from what a store has of them, and stores what it computes: what a
 * server does around its own model. Safe for use by several threads, a {@link Turn} each.
 */
public final class CachedModel {
  final HybridModel model;
  final ModelBinding binding;
  final Namespace namespace;

  /** Puts a model in front of a store, which keeps its state as it is. */
  public CachedModel(HybridModel model, SnapshotStore store, int blockTokens) {
    this(model, store, blockTokens, CodecPlan.RAW);
  }

  /** Puts a model in front of a store, which keeps its state with these codecs. */
  public CachedModel(HybridModel model, SnapshotStore store, int blockTokens, CodecPlan codecs) {
    this.model = model;
    this.binding = new ModelBinding(model.config(), blockTokens);
    this.namespace = store.namespace(binding.identity(), binding.layout(), codecs);
  }

  /** How the model's state is stored. */
  public ModelBinding binding() {
    return binding;
  }

  /**
   * Begins a request: restores what there is of the prompt, and opens a session for the rest.
   *
   * @param newTokens most tokens that will be generated
   */
  public Turn begin(int[] prompt, int newTokens) {
    return new Turn(this, prompt, newTokens);
  }
}
