package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class DeltaNetLayerTest {
  private static final int TOKENS = 40;

  private final ModelConfig config = ModelConfig.tiny();
  private final DeltaNetLayer layer = new DeltaNetLayer(config, new SplitMix64(3));

  @Test
  void layerEqualsNaiveReference() {
    SplitMix64 random = new SplitMix64(4);
    float[][] inputs = new float[TOKENS][config.hidden()];
    for (float[] input : inputs) {
      for (int i = 0; i < input.length; i++) {
        input[i] = 1.7f * random.nextSigned();
      }
    }
    DeltaNetCache cache = new DeltaNetCache(config);

    float[][] out = layer.forward(inputs, cache);

    double[][][] state = new double[layer.heads][layer.dk][layer.dv];
    double[][] projected = new double[TOKENS][];
    for (int t = 0; t < TOKENS; t++) {
      projected[t] = times(widen(inputs[t]), layer.qkv);
      for (int i = 0; i < layer.channels; i++) {
        // Rounds from float like the layer does; a last-bit difference before the rounding can
        // still move an input by a bf16 step, which the tolerance allows for.
        projected[t][i] = BFloat16.round((float) projected[t][i]);
      }
      double[] expected = naive(widen(inputs[t]), convolve(projected, t), state);
      for (int i = 0; i < expected.length; i++) {
        assertThat((double) out[t][i]).as("token %d", t).isCloseTo(expected[i], within(0.002));
      }
    }
    for (int head = 0; head < layer.heads; head++) {
      for (int i = 0; i < layer.dk; i++) {
        for (int j = 0; j < layer.dv; j++) {
          assertThat((double) cache.recurrent[head * layer.dk + i][j])
              .isCloseTo(state[head][i][j], within(0.0005));
        }
      }
    }
  }

  /** One token by the textbook: decay first, then read under the key, then write the difference. */
  private double[] naive(double[] input, double[] mixed, double[][][] state) {
    double[] controls = times(input, layer.control);
    double[] gates = times(input, layer.gate);
    double[] out = new double[layer.heads * layer.dv];
    for (int head = 0; head < layer.heads; head++) {
      double[][] s = state[head];
      double[] q = unit(mixed, head * layer.dk);
      double[] k = unit(mixed, (layer.heads + head) * layer.dk);
      double beta = 1 / (1 + Math.exp(-controls[head]));
      double softplus = Math.log1p(Math.exp(controls[layer.heads + head] + layer.decayBias[head]));
      double g = Math.exp(-layer.decayRate[head] * softplus);
      double[] o = new double[layer.dv];
      double meanSquare = 0;
      for (int j = 0; j < layer.dv; j++) {
        double held = 0;
        for (int i = 0; i < layer.dk; i++) {
          s[i][j] *= g;
          held += k[i] * s[i][j];
        }
        double v = mixed[2 * layer.heads * layer.dk + head * layer.dv + j];
        for (int i = 0; i < layer.dk; i++) {
          s[i][j] += k[i] * beta * (v - held);
          o[j] += q[i] * s[i][j];
        }
        meanSquare += o[j] * o[j] / layer.dv;
      }
      for (int j = 0; j < layer.dv; j++) {
        int at = head * layer.dv + j;
        out[at] = o[j] / Math.sqrt(meanSquare + 1e-6) * silu(gates[at]);
      }
    }
    return times(out, layer.output);
  }

  private double[] convolve(double[][] inputs, int t) {
    double[] out = new double[layer.channels];
    for (int i = 0; i < layer.channels; i++) {
      for (int back = 0; back < DeltaNetLayer.KERNEL && back <= t; back++) {
        out[i] += inputs[t - back][i] * layer.kernel[DeltaNetLayer.KERNEL - 1 - back][i];
      }
      out[i] = silu(out[i]);
    }
    return out;
  }

  private double[] unit(double[] x, int at) {
    double sum = 0;
    for (int i = 0; i < layer.dk; i++) {
      sum += x[at + i] * x[at + i];
    }
    double[] unit = new double[layer.dk];
    for (int i = 0; i < layer.dk; i++) {
      unit[i] = x[at + i] / Math.sqrt(sum + 1e-6 * layer.dk);
    }
    return unit;
  }

  private static double silu(double x) {
    return x / (1 + Math.exp(-x));
  }

  private static double[] times(double[] x, Matrix matrix) {
    double[] y = new double[matrix.out];
    for (int i = 0; i < matrix.in; i++) {
      for (int j = 0; j < matrix.out; j++) {
        y[j] += x[i] * matrix.rows[i][j];
      }
    }
    return y;
  }

  private static double[] widen(float[] x) {
    double[] wide = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      wide[i] = x[i];
    }
    return wide;
  }
}
