package dev.waymark.tools.model;

import java.util.Objects;

/**
 * A small decoder-only language model that really computes: full attention, sliding-window
 * attention and gated delta net layers, each followed by a gated MLP, with RMS normalisation and
 * tied embeddings. Its weights are pseudo-random, drawn in layer order from SplitMix64 seeded with
 * {@link ModelConfig#seed}, so what it says is nonsense, but it is the same nonsense everywhere:
 * all arithmetic is float32 in a fixed order, and a token's result does not depend on how the
 * tokens were split into calls.
 *
 * <p>Immutable and safe for use by several threads, each with its own {@link ModelState}.
 */
public final class HybridModel {
  /** Tokens that go through a layer together; only the speed depends on it. */
  private static final int CHUNK = 32;

  /** Kept small beside the layers' outputs, or tied embeddings would echo the last token. */
  private static final float EMBEDDING_RMS = 0.5f;

  private final ModelConfig config;

  /** [hidden][vocab]: a column is a token's embedding, the product gives the logits. */
  private final Matrix embedding;

  private final AttentionLayer[] attention;
  private final DeltaNetLayer[] deltaNet;
  private final GatedMlp[] mlp;

  /** Makes the weights; equal configurations make equal models. */
  public HybridModel(ModelConfig config) {
    this.config = config;
    SplitMix64 random = new SplitMix64(config.seed());
    this.embedding = Matrix.random(random, config.hidden(), config.vocab(), 1f);
    int layers = config.layers().size();
    this.attention = new AttentionLayer[layers];
    this.deltaNet = new DeltaNetLayer[layers];
    this.mlp = new GatedMlp[layers];
    for (int layer = 0; layer < layers; layer++) {
      if (config.layers().get(layer) == LayerKind.GATED_DELTA_NET) {
        deltaNet[layer] = new DeltaNetLayer(config, random);
      } else {
        attention[layer] = new AttentionLayer(config, random);
      }
      mlp[layer] = new GatedMlp(config, random);
    }
  }

  /** The configuration the model was made from. */
  public ModelConfig config() {
    return config;
  }

  /** An empty state for sequences of up to {@code capacity} tokens. */
  public ModelState newState(int capacity) {
    return new ModelState(config, capacity);
  }

  /**
   * Appends tokens[from .. to) to the sequence.
   *
   * @return the logits for the token that follows, [vocab]
   * @throws IllegalArgumentException if the state is another model's, the range is empty, a token
   *     is not in the vocabulary or the state would exceed its capacity; the state is then
   *     unchanged
   */
  public float[] prefill(ModelState state, int[] tokens, int from, int to) {
    check(state, tokens, from, to);
    state.load();
    float[][] last = null;
    for (int start = from; start < to; start += CHUNK) {
      int n = Math.min(CHUNK, to - start);
      last = forward(state, tokens, start, n, state.tokens() + start - from);
    }
    state.store(to - from);
    return embedding.times(last)[0];
  }

  /**
   * Appends one token to the sequence.
   *
   * @return the logits for the token that follows, [vocab]
   */
  public float[] step(ModelState state, int token) {
    return prefill(state, new int[] {token}, 0, 1);
  }

  /**
   * Continues the sequence with its likeliest tokens. All returned tokens but the last have been
   * appended to the state.
   *
   * @param firstLogits logits for the first token to choose, from {@link #prefill} or {@link #step}
   * @param n tokens to choose
   */
  public int[] greedy(ModelState state, float[] firstLogits, int n) {
    int[] chosen = new int[n];
    float[] logits = firstLogits;
    for (int i = 0; i < n; i++) {
      if (i > 0) {
        logits = step(state, chosen[i - 1]);
      }
      chosen[i] = argmax(logits);
    }
    return chosen;
  }

  /** Index of the greatest logit, the lowest one among equals. */
  public static int argmax(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      if (logits[i] > logits[best]) {
        best = i;
      }
    }
    return best;
  }

  /** Runs n tokens through all layers; returns the last one's normalised output, [1][hidden]. */
  private float[][] forward(ModelState state, int[] tokens, int start, int n, int position) {
    Rotary rotary = new Rotary(config.headWidth(), position, n);
    float[][] x = embed(tokens, start, n);
    for (int layer = 0; layer < mlp.length; layer++) {
      float[][] h = normalised(x);
      add(
          x,
          attention[layer] != null
              ? attention[layer].forward(h, rotary, state.attention(layer))
              : deltaNet[layer].forward(h, state.deltaNet(layer)));
      add(x, mlp[layer].forward(normalised(x)));
    }
    return normalised(new float[][] {x[n - 1]});
  }

  private float[][] embed(int[] tokens, int start, int n) {
    float[][] x = new float[n][config.hidden()];
    for (int t = 0; t < n; t++) {
      for (int i = 0; i < x[t].length; i++) {
        x[t][i] = embedding.rows[i][tokens[start + t]];
      }
      FloatKernels.rmsNormInPlace(x[t], 0, x[t].length, EMBEDDING_RMS);
    }
    return x;
  }

  private static void add(float[][] y, float[][] x) {
    for (int t = 0; t < y.length; t++) {
      FloatKernels.add(y[t], x[t], y[t].length);
    }
  }

  private static float[][] normalised(float[][] x) {
    float[][] h = new float[x.length][];
    for (int t = 0; t < x.length; t++) {
      h[t] = x[t].clone();
      FloatKernels.rmsNormInPlace(h[t], 0, h[t].length, 1f);
    }
    return h;
  }

  private void check(ModelState state, int[] tokens, int from, int to) {
    Objects.checkFromToIndex(from, to, tokens.length);
    if (from == to) {
      throw new IllegalArgumentException("no tokens to append");
    }
    if (!state.config().equals(config)) {
      throw new IllegalArgumentException("the state belongs to a model of another configuration");
    }
    if (to - from > state.capacity() - state.tokens()) {
      throw new IllegalArgumentException(
          "no room for %d tokens after %d, the capacity is %d"
              .formatted(to - from, state.tokens(), state.capacity()));
    }
    for (int i = from; i < to; i++) {
      if (tokens[i] < 0 || tokens[i] >= config.vocab()) {
        throw new IllegalArgumentException(
            "token " + tokens[i] + " is not in a vocabulary of " + config.vocab());
      }
    }
  }
}
