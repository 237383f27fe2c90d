package dev.waymark.jmh.load;

import java.util.Arrays;

/** What calls took, each of them kept, in room that is there from the start. */
final class Latencies {
  private long[] nanos = new long[1 << 21];
  private int count;

  synchronized void add(long value) {
    if (count == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * count);
    }
    nanos[count++] = value;
  }

  synchronized int count() {
    return count;
  }

  /** That so many percent did not exceed, in milliseconds. */
  synchronized double millis(double percent) {
    long[] sorted = Arrays.copyOf(nanos, count);
    Arrays.sort(sorted);
    return count == 0 ? 0 : sorted[(int) Math.min(count - 1, count * percent / 100)] / 1e6;
  }
}
