package dev.waymark.internal.admit;

import java.util.Arrays;

/**
 * Bytes a token, as they are measured while a prefill runs: the median of the slopes between all
 * pairs of samples (Theil and Sen), so that a block that costs once what no other does, as the
 * first often is, does not count. Owned by one prefill.
 *
 * <p>Invariants: samples ascend in tokens; there are at most {@link #MOST_SAMPLES}, spread over all
 * that was reported.
 */
public final class Slope {
  /** With fewer, nothing is said: the first one has what a prefill costs once. */
  public static final int LEAST_SAMPLES = 3;

  static final int MOST_SAMPLES = 16;

  private final long[] tokens = new long[MOST_SAMPLES];
  private final long[] bytes = new long[MOST_SAMPLES];
  private int count;
  private long leastStepTokens = 1;

  /** Takes what is in use after so many tokens; what is not beyond the last sample is left out. */
  public void sample(long atTokens, long bytesInUse) {
    if (count > 0 && atTokens < tokens[count - 1] + leastStepTokens) {
      return;
    }
    if (count == MOST_SAMPLES) {
      thin();
    }
    tokens[count] = atTokens;
    bytes[count] = bytesInUse;
    count++;
  }

  /** Every second goes, the newest stays; from now on samples are as far apart as those kept. */
  private void thin() {
    int kept = 0;
    for (int i = 1; i < count; i += 2) {
      tokens[kept] = tokens[i];
      bytes[kept] = bytes[i];
      kept++;
    }
    leastStepTokens = Math.max(1, (tokens[kept - 1] - tokens[0]) / (kept - 1));
    count = kept;
  }

  /** Whether there are enough samples. */
  public boolean isKnown() {
    return count >= LEAST_SAMPLES;
  }

  /** Bytes a token; never negative. */
  public double bytesPerToken() {
    double[] slopes = new double[count * (count - 1) / 2];
    int at = 0;
    for (int i = 0; i < count; i++) {
      for (int j = i + 1; j < count; j++) {
        slopes[at++] = (double) (bytes[j] - bytes[i]) / (tokens[j] - tokens[i]);
      }
    }
    Arrays.sort(slopes);
    int middle = slopes.length / 2;
    double median =
        slopes.length % 2 == 1 ? slopes[middle] : (slopes[middle - 1] + slopes[middle]) / 2;
    return Math.max(0, median);
  }

  /** What will be in use at the end, if it goes on like that. */
  public long atEnd(long atTokens, long bytesInUse, long endTokens) {
    return bytesInUse + Math.round(Math.max(0, endTokens - atTokens) * bytesPerToken());
  }
}
