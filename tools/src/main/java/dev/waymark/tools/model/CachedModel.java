package dev.waymark.tools.model;

import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;

/**
 * A model that answers prompts from what a store has of them, and stores what it computes: what a
 * server does around its own model. Safe for use by several threads, a {@link Turn} each.
 */
public final class CachedModel {
  final HybridModel model;
  final ModelBinding binding;
  final Namespace namespace;

  /** Puts a model in front of a store. */
  public CachedModel(HybridModel model, SnapshotStore store, int blockTokens) {
    this.model = model;
    this.binding = new ModelBinding(model.config(), blockTokens);
    this.namespace = store.namespace(binding.identity(), binding.layout());
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
