package dev.waymark.tools.model;

/**
 * A gated delta net: a short causal convolution over queries, keys and values, and per head a
 * matrix S [dk][dv] that decays, gives up what it held under the new key and learns the new value:
 *
 * <pre>
 *   d = beta * (v - g * k S)
 *   S = g * S + k d
 *   o = q S
 * </pre>
 */
final class DeltaNetLayer {
  static final int KERNEL = DeltaNetCache.TAIL + 1;

  final int heads;
  final int dk;
  final int dv;
  final int channels;

  /** To convolution channels: queries [heads][dk], keys [heads][dk], values [heads][dv]. */
  final Matrix qkv;

  /** To the output gate [heads][dv]. */
  final Matrix gate;

  /** To write strength [heads] and decay [heads], before their squashing. */
  final Matrix control;

  final Matrix output;

  /** [KERNEL][channels], oldest token first. */
  final float[][] kernel;

  /** [heads], how much the input makes a head forget. */
  final float[] decayRate;

  /** [heads], how much a head forgets anyway. */
  final float[] decayBias;

  DeltaNetLayer(ModelConfig config, SplitMix64 random) {
    heads = config.recurrentHeads();
    dk = config.keyWidth();
    dv = config.valueWidth();
    channels = config.convChannels();
    int hidden = config.hidden();
    qkv = Matrix.random(random, hidden, channels, 1f);
    gate = Matrix.random(random, hidden, heads * dv, 1f);
    control = Matrix.random(random, hidden, 2 * heads, 1f);
    output = Matrix.random(random, heads * dv, hidden, 2f);
    kernel = new float[KERNEL][channels];
    for (float[] row : kernel) {
      for (int i = 0; i < channels; i++) {
        row[i] = random.nextSigned();
      }
    }
    decayRate = new float[heads];
    decayBias = new float[heads];
    for (int head = 0; head < heads; head++) {
      decayRate[head] = 1f + 3f * random.nextFloat();
      // A softplus of 0.1 down to 0.001: some heads look back a few tokens, some a thousand.
      double softplus = StrictMath.pow(10, -1 - 2 * random.nextFloat());
      decayBias[head] = (float) StrictMath.log(StrictMath.expm1(softplus));
    }
  }

  /** h [n][hidden] normalised inputs of the next n tokens; returns [n][hidden]. */
  float[][] forward(float[][] h, DeltaNetCache cache) {
    float[][] mixed = convolve(qkv.times(h), cache.conv);
    float[][] controls = control.times(h);
    float[][] gates = gate.times(h);
    for (int t = 0; t < h.length; t++) {
      float[] out = new float[heads * dv];
      for (int head = 0; head < heads; head++) {
        float beta = FloatKernels.sigmoid(controls[t][head]);
        float g = decay(head, controls[t][heads + head]);
        float[] o = update(cache.recurrent, head, mixed[t], g, beta);
        System.arraycopy(o, 0, out, head * dv, dv);
      }
      FloatKernels.siluInPlace(gates[t]);
      FloatKernels.multiply(gates[t], out);
    }
    return output.times(gates);
  }

  /**
   * Depthwise convolution and SiLU. Inputs are rounded to bf16 on arrival, not on leaving for the
   * tail, so that a token weighs the same whether it comes from the tail or from the same chunk.
   */
  private float[][] convolve(float[][] input, float[][] tail) {
    float[][] inputs = new float[tail.length + input.length][];
    System.arraycopy(tail, 0, inputs, 0, tail.length);
    System.arraycopy(input, 0, inputs, tail.length, input.length);
    float[][] out = new float[input.length][channels];
    for (int t = 0; t < input.length; t++) {
      for (int i = 0; i < channels; i++) {
        input[t][i] = BFloat16.round(input[t][i]);
      }
      for (int k = 0; k < KERNEL; k++) {
        FloatKernels.addProduct(out[t], inputs[t + k], kernel[k]);
      }
      FloatKernels.siluInPlace(out[t]);
    }
    System.arraycopy(inputs, input.length, tail, 0, tail.length);
    return out;
  }

  private float decay(int head, float control) {
    double softplus = StrictMath.log1p(StrictMath.exp(control + decayBias[head]));
    return (float) StrictMath.exp(-decayRate[head] * softplus);
  }

  /** Takes one token into head's part of s; returns what its query reads, [dv], normalised. */
  private float[] update(float[][] s, int head, float[] mixed, float g, float beta) {
    int q = head * dk;
    int k = (heads + head) * dk;
    int v = 2 * heads * dk + head * dv;
    float unit = 1f / (float) Math.sqrt(dk);
    FloatKernels.rmsNormInPlace(mixed, q, dk, unit);
    FloatKernels.rmsNormInPlace(mixed, k, dk, unit);
    int row = head * dk;
    float[] delta = new float[dv];
    for (int i = 0; i < dk; i += 4) {
      FloatKernels.addRows4(s, row + i, mixed, k + i, delta, dv);
    }
    for (int j = 0; j < dv; j++) {
      delta[j] = beta * (mixed[v + j] - g * delta[j]);
    }
    for (int i = 0; i < dk; i++) {
      FloatKernels.decayAndAdd(s[row + i], g, mixed[k + i], delta);
    }
    float[] out = new float[dv];
    for (int i = 0; i < dk; i += 4) {
      FloatKernels.addRows4(s, row + i, mixed, q + i, out, dv);
    }
    FloatKernels.rmsNormInPlace(out, 0, dv, 1f);
    return out;
  }
}
