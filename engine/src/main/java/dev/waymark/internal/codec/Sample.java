package dev.waymark.internal.codec;

import org.agrona.DirectBuffer;

/**
 * Judges by a sample whether a plane is noise, so that no time is lost on compressing mantissas. It
 * counts pairs of equal bytes: in {@code n} bytes of pure noise {@code n (n - 1) / 256} pairs are
 * expected, whatever the sample's size. Integers only, so that every machine judges alike.
 */
final class Sample {
  private static final int RUNS = 16;
  private static final int RUN_BYTES = 256;

  /**
   * Per cent of the pairs of pure noise below which a plane counts as noise. 6 over is about 0.04
   * bits of 8 that an entropy coder could save; chance alone gives 0.6 (one standard deviation).
   */
  private static final long NOISE_PERCENT = 106;

  private final byte[] bytes = new byte[RUN_BYTES];
  private final int[] counts = new int[256];

  boolean isNoise(DirectBuffer buffer, int index, int lengthBytes) {
    java.util.Arrays.fill(counts, 0);
    int n = 0;
    if (lengthBytes <= RUNS * RUN_BYTES) {
      for (int done = 0; done < lengthBytes; done += RUN_BYTES) {
        n += count(buffer, index + done, Math.min(RUN_BYTES, lengthBytes - done));
      }
    } else {
      int stride = (lengthBytes - RUN_BYTES) / (RUNS - 1);
      for (int run = 0; run < RUNS; run++) {
        n += count(buffer, index + run * stride, RUN_BYTES);
      }
    }
    long pairs = 0;
    for (long c : counts) {
      pairs += c * (c - 1);
    }
    return 256 * 100 * pairs < NOISE_PERCENT * n * (n - 1L);
  }

  private int count(DirectBuffer buffer, int index, int lengthBytes) {
    Memory.load(buffer, index, lengthBytes, bytes);
    for (int i = 0; i < lengthBytes; i++) {
      counts[bytes[i] & 0xFF]++;
    }
    return lengthBytes;
  }
}
