package dev.waymark.tools.model;

/** down(silu(gate(h)) * up(h)). */
final class GatedMlp {
  private final Matrix gate;
  private final Matrix up;
  private final Matrix down;

  GatedMlp(ModelConfig config, SplitMix64 random) {
    gate = Matrix.random(random, config.hidden(), config.mlp(), 1f);
    up = Matrix.random(random, config.hidden(), config.mlp(), 1f);
    down = Matrix.random(random, config.mlp(), config.hidden(), 2f);
  }

  /** h [n][hidden] normalised inputs; returns [n][hidden]. */
  float[][] forward(float[][] h) {
    float[][] inner = gate.times(h);
    float[][] linear = up.times(h);
    for (int t = 0; t < h.length; t++) {
      FloatKernels.siluInPlace(inner[t]);
      FloatKernels.multiply(inner[t], linear[t]);
    }
    return down.times(inner);
  }
}
