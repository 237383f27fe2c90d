package dev.waymark.tools.model;

import java.util.ArrayList;
import java.util.List;

/**
 * Everything a {@link HybridModel} remembers of one sequence, in direct little-endian buffers that
 * can be read and written in place between calls of the model. Not safe for use by two threads at
 * once.
 *
 * <p>To restore, write into the buffers of {@link #tensors} and then call {@link #restoredTo}.
 */
public final class ModelState {
  private final ModelConfig config;
  private final int capacity;
  private final AttentionCache[] attention;
  private final DeltaNetCache[] deltaNet;
  private final List<StateTensor> tensors;
  private int tokens;

  /**
   * An empty state.
   *
   * @param capacity most tokens the sequence may have; full-attention buffers are this many rows
   */
  public ModelState(ModelConfig config, int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is below one token");
    }
    this.config = config;
    this.capacity = capacity;
    int layers = config.layers().size();
    this.attention = new AttentionCache[layers];
    this.deltaNet = new DeltaNetCache[layers];
    List<StateTensor> views = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      switch (config.layers().get(layer)) {
        case FULL_ATTENTION -> addAttention(layer, RowSlots.growing(capacity), views);
        case SLIDING_ATTENTION ->
            addAttention(layer, RowSlots.ring(config.window(), config.sink()), views);
        case GATED_DELTA_NET -> addDeltaNet(layer, views);
      }
    }
    this.tensors = List.copyOf(views);
  }

  /** The configuration of the models this state fits. */
  public ModelConfig config() {
    return config;
  }

  /** Most tokens the sequence may have. */
  public int capacity() {
    return capacity;
  }

  /** Tokens the state has seen, which is also the position of the next one. */
  public int tokens() {
    return tokens;
  }

  /** Bytes of memory that the buffers take, of whatever is in them. */
  public long bytes() {
    return tensors.stream().mapToLong(tensor -> tensor.buffer().capacity()).sum();
  }

  /** All tensors, by layer; the list and its elements stay the same for the state's lifetime. */
  public List<StateTensor> tensors() {
    return tensors;
  }

  /**
   * Declares that the buffers now hold the state after the first {@code count} tokens of a
   * sequence; the next token continues from there. The buffers must hold, for every tensor:
   *
   * <ul>
   *   <li>{@link StateTensor.Kind#ROWS}: in every head the row of token t in slot t, for t in [0,
   *       count).
   *   <li>{@link StateTensor.Kind#WINDOW}: in every head the row of token t in slot {@link
   *       StateTensor#slotOf}(t), for t in [0, min(sink, count)) and for the last {@code window}
   *       tokens, t in [max(sink, count - window), count).
   *   <li>{@link StateTensor.Kind#FIXED}: all its bytes as they were after token count - 1.
   * </ul>
   *
   * <p>Other slots may hold anything. A count of 0 is {@link #reset}, whatever the buffers hold.
   */
  public void restoredTo(int count) {
    if (count < 0 || count > capacity) {
      throw new IllegalArgumentException(
          "cannot hold " + count + " tokens, the capacity is " + capacity);
    }
    if (count == 0) {
      reset();
      return;
    }
    for (AttentionCache cache : attention) {
      if (cache != null) {
        cache.reload(count);
      }
    }
    tokens = count;
  }

  /** Forgets everything. Rows keep their bytes but are no longer part of the state. */
  public void reset() {
    for (int layer = 0; layer < attention.length; layer++) {
      if (attention[layer] != null) {
        attention[layer].clear();
      } else {
        deltaNet[layer].clear();
      }
    }
    tokens = 0;
  }

  /** A state of the same capacity made from this one's bytes, sharing nothing with it. */
  public ModelState copy() {
    ModelState copy = new ModelState(config, capacity);
    for (int i = 0; i < tensors.size(); i++) {
      copy.tensors.get(i).buffer().put(tensors.get(i).buffer());
    }
    copy.restoredTo(tokens);
    return copy;
  }

  AttentionCache attention(int layer) {
    return attention[layer];
  }

  DeltaNetCache deltaNet(int layer) {
    return deltaNet[layer];
  }

  /** Reads the fixed tensors' buffers before the model goes to work. */
  void load() {
    for (DeltaNetCache cache : deltaNet) {
      if (cache != null) {
        cache.load();
      }
    }
  }

  /** Makes the buffers current again after the model has seen {@code count} more tokens. */
  void store(int count) {
    for (DeltaNetCache cache : deltaNet) {
      if (cache != null) {
        cache.store();
      }
    }
    tokens += count;
  }

  private void addAttention(int layer, RowSlots slots, List<StateTensor> views) {
    AttentionCache cache = new AttentionCache(config.kvHeads(), config.headWidth(), slots);
    attention[layer] = cache;
    views.add(StateTensor.rows("layer_" + layer + "_keys", layer, cache, cache.keys, this::tokens));
    views.add(
        StateTensor.rows("layer_" + layer + "_values", layer, cache, cache.values, this::tokens));
  }

  private void addDeltaNet(int layer, List<StateTensor> views) {
    DeltaNetCache cache = new DeltaNetCache(config);
    deltaNet[layer] = cache;
    views.add(
        StateTensor.fixed(
            "layer_" + layer + "_recurrent",
            layer,
            StateTensor.Dtype.F32,
            List.of(config.recurrentHeads(), config.keyWidth(), config.valueWidth()),
            cache.recurrentBytes,
            this::tokens));
    views.add(
        StateTensor.fixed(
            "layer_" + layer + "_conv",
            layer,
            StateTensor.Dtype.BF16,
            List.of(DeltaNetCache.TAIL, config.convChannels()),
            cache.convBytes,
            this::tokens));
  }
}
