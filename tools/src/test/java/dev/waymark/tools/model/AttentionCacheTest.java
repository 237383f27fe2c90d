package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;

class AttentionCacheTest {
  private static final int QUERY_HEADS = 4;
  private static final int HEADS = 2;
  private static final int WIDTH = 8;
  private static final int TOKENS = 600;

  private final float[][] queries = random(1, QUERY_HEADS * WIDTH);
  private final float[][] keys = random(2, HEADS * WIDTH);
  private final float[][] values = random(3, HEADS * WIDTH);

  @Test
  void ringEqualsFullCacheMaskedToWindowAndSinks() {
    int window = 21;
    for (int sink : new int[] {0, 1, 5}) {
      AttentionCache ring = new AttentionCache(HEADS, WIDTH, RowSlots.ring(window, sink));

      float[][] out = ring.attend(queries, keys, values);

      for (int t = 0; t < TOKENS; t++) {
        int last = t;
        assertMean(out[t], t, seen -> seen < sink || seen > last - window);
      }
    }
  }

  @Test
  void ringLongerThanABlockEqualsFullCacheMaskedToWindowAndSinks() {
    int window = 300;
    AttentionCache ring = new AttentionCache(HEADS, WIDTH, RowSlots.ring(window, 4));

    float[][] out = ring.attend(queries, keys, values);

    for (int t = 0; t < TOKENS; t += 13) {
      int last = t;
      assertMean(out[t], t, seen -> seen < 4 || seen > last - window);
    }
  }

  @Test
  void growingCacheAttendsToAllTokensSoFar() {
    AttentionCache cache = new AttentionCache(HEADS, WIDTH, RowSlots.growing(TOKENS));

    float[][] out = cache.attend(queries, keys, values);

    for (int t = 0; t < TOKENS; t += 13) {
      assertMean(out[t], t, seen -> true);
    }
  }

  private void assertMean(float[] out, int t, IntPredicate visible) {
    double error = 0;
    for (int head = 0; head < QUERY_HEADS; head++) {
      double[] expected = naive(head, t, visible);
      for (int d = 0; d < WIDTH; d++) {
        error = Math.max(error, Math.abs(out[head * WIDTH + d] - expected[d]));
      }
    }
    assertThat(error).as("greatest error at token %d", t).isLessThan(1e-4);
  }

  private double[] naive(int head, int t, IntPredicate visible) {
    int kv = head * HEADS / QUERY_HEADS * WIDTH;
    double[] mean = new double[WIDTH];
    double total = 0;
    for (int seen = 0; seen <= t; seen++) {
      if (visible.test(seen)) {
        double score = 0;
        for (int d = 0; d < WIDTH; d++) {
          score += queries[t][head * WIDTH + d] * BFloat16.round(keys[seen][kv + d]);
        }
        double weight = Math.exp(score);
        total += weight;
        for (int d = 0; d < WIDTH; d++) {
          mean[d] += weight * BFloat16.round(values[seen][kv + d]);
        }
      }
    }
    for (int d = 0; d < WIDTH; d++) {
      mean[d] /= total;
    }
    return mean;
  }

  private static float[][] random(long seed, int width) {
    SplitMix64 random = new SplitMix64(seed);
    float[][] rows = new float[TOKENS][width];
    for (float[] row : rows) {
      for (int i = 0; i < width; i++) {
        row[i] = 1.5f * random.nextSigned();
      }
    }
    return rows;
  }
}
