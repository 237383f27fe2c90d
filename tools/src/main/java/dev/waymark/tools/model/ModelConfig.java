package dev.waymark.tools.model;

import java.util.ArrayList;
import java.util.List;

/**
 * The shape of a {@link HybridModel} and the seed its weights come from. Two models with equal
 * configurations have equal weights and compute equal bits.
 *
 * @param layers the kind of each decoder layer, in order
 * @param hidden width of the residual stream, a multiple of 8
 * @param queryHeads query heads of an attention layer, a multiple of {@code kvHeads}
 * @param kvHeads key and value heads of an attention layer
 * @param headWidth width of an attention head, a power of two, at least 8
 * @param recurrentHeads heads of a gated delta net layer
 * @param keyWidth width dk of a recurrent key, a power of two, at least 8
 * @param valueWidth width dv of a recurrent value, a power of two, at least 8
 * @param mlp inner width of the gated MLP, a multiple of 8
 * @param window recent tokens a sliding layer sees, the current one included and the sinks not
 * @param sink first tokens of the sequence that a sliding layer never forgets
 * @param vocab number of token ids
 * @param seed where the weights come from
 */
public record ModelConfig(
    List<LayerKind> layers,
    int hidden,
    int queryHeads,
    int kvHeads,
    int headWidth,
    int recurrentHeads,
    int keyWidth,
    int valueWidth,
    int mlp,
    int window,
    int sink,
    int vocab,
    long seed) {

  /** Copies the layer list and rejects shapes that the arithmetic does not support. */
  public ModelConfig {
    layers = List.copyOf(layers);
    require(!layers.isEmpty(), "at least one layer");
    require(hidden > 0 && hidden % 8 == 0, "hidden is a positive multiple of 8");
    require(kvHeads > 0, "kvHeads is positive");
    require(queryHeads > 0 && queryHeads % kvHeads == 0, "queryHeads is a multiple of kvHeads");
    require(isWidth(headWidth), "headWidth is a power of two, at least 8");
    require(recurrentHeads > 0, "recurrentHeads is positive");
    require(isWidth(keyWidth), "keyWidth is a power of two, at least 8");
    require(isWidth(valueWidth), "valueWidth is a power of two, at least 8");
    require(mlp > 0 && mlp % 8 == 0, "mlp is a positive multiple of 8");
    require(window > 0, "window is positive");
    require(sink >= 0, "sink is not negative");
    require(vocab > 1, "vocab is at least 2");
  }

  /**
   * The configuration for demonstrations: two rounds of two recurrent layers, a sliding layer and a
   * full-attention layer. Heavy enough that computing a long prompt takes seconds, light enough
   * that nobody waits minutes for one.
   */
  public static ModelConfig demo() {
    return new ModelConfig(rounds(2), 128, 2, 2, 64, 4, 32, 64, 256, 512, 4, 512, 20_240_229L);
  }

  /** The configuration for unit tests: every kind of layer twice, and a window that soon wraps. */
  public static ModelConfig tiny() {
    return new ModelConfig(rounds(2), 32, 4, 2, 8, 2, 8, 16, 48, 12, 3, 128, 7L);
  }

  /** The same shape with other layers. */
  public ModelConfig withLayers(List<LayerKind> other) {
    return new ModelConfig(
        other,
        hidden,
        queryHeads,
        kvHeads,
        headWidth,
        recurrentHeads,
        keyWidth,
        valueWidth,
        mlp,
        window,
        sink,
        vocab,
        seed);
  }

  /** The same shape with another window and number of sinks, both in tokens. */
  public ModelConfig withWindow(int otherWindow, int otherSink) {
    return new ModelConfig(
        layers,
        hidden,
        queryHeads,
        kvHeads,
        headWidth,
        recurrentHeads,
        keyWidth,
        valueWidth,
        mlp,
        otherWindow,
        otherSink,
        vocab,
        seed);
  }

  /** The same shape with weights from another seed. */
  public ModelConfig withSeed(long otherSeed) {
    return new ModelConfig(
        layers,
        hidden,
        queryHeads,
        kvHeads,
        headWidth,
        recurrentHeads,
        keyWidth,
        valueWidth,
        mlp,
        window,
        sink,
        vocab,
        otherSeed);
  }

  /** Channels of the short convolution of a recurrent layer: queries, keys and values together. */
  public int convChannels() {
    return recurrentHeads * (2 * keyWidth + valueWidth);
  }

  private static List<LayerKind> rounds(int count) {
    List<LayerKind> layers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      layers.add(LayerKind.GATED_DELTA_NET);
      layers.add(LayerKind.GATED_DELTA_NET);
      layers.add(LayerKind.SLIDING_ATTENTION);
      layers.add(LayerKind.FULL_ATTENTION);
    }
    return layers;
  }

  private static boolean isWidth(int n) {
    return n >= 8 && Integer.bitCount(n) == 1;
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalArgumentException("a model needs: " + what);
    }
  }
}
