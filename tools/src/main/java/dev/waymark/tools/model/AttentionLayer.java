package dev.waymark.tools.model;

/** Grouped-query attention with normalised, rotated queries and keys. */
final class AttentionLayer {
  /** Sharpens the softmax, so that single tokens matter even in a long context. */
  private static final float SCORE_GAIN = 2f;

  private final int queryHeads;
  private final int kvHeads;
  private final int width;
  private final Matrix query;
  private final Matrix key;
  private final Matrix value;
  private final Matrix output;

  AttentionLayer(ModelConfig config, SplitMix64 random) {
    queryHeads = config.queryHeads();
    kvHeads = config.kvHeads();
    width = config.headWidth();
    query = Matrix.random(random, config.hidden(), queryHeads * width, 1f);
    key = Matrix.random(random, config.hidden(), kvHeads * width, 1f);
    value = Matrix.random(random, config.hidden(), kvHeads * width, 1f);
    output = Matrix.random(random, queryHeads * width, config.hidden(), 2f);
  }

  /** h [n][hidden] normalised inputs of the next n tokens; returns [n][hidden]. */
  float[][] forward(float[][] h, Rotary rotary, AttentionCache cache) {
    float[][] q = query.times(h);
    float[][] k = key.times(h);
    float[][] v = value.times(h);
    for (int t = 0; t < h.length; t++) {
      place(k[t], kvHeads, 1f, rotary, t);
      place(q[t], queryHeads, SCORE_GAIN / (float) Math.sqrt(width), rotary, t);
    }
    return output.times(cache.attend(q, k, v));
  }

  private void place(float[] x, int heads, float rms, Rotary rotary, int t) {
    for (int head = 0; head < heads; head++) {
      FloatKernels.rmsNormInPlace(x, head * width, width, rms);
      rotary.rotate(x, head * width, t);
    }
  }
}
