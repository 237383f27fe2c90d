package dev.waymark.internal.watch;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * How long operations of one kind took. Times are kept in buckets of which each is an eighth wider
 * than where it begins, so a percentile is told at most an eighth too high. For many threads.
 */
public final class Timer {
  private static final int SUB_BITS = 3;
  private static final int SUBS = 1 << SUB_BITS;

  private final AtomicLongArray buckets = new AtomicLongArray(Long.SIZE * SUBS);
  private final LongAdder totalNanos = new LongAdder();
  private final LongAccumulator maxNanos = new LongAccumulator(Math::max, 0);

  /** Takes one. */
  public void add(long nanos) {
    long taken = Math.max(0, nanos);
    buckets.incrementAndGet(bucketOf(taken));
    totalNanos.add(taken);
    maxNanos.accumulate(taken);
  }

  /** How many there were. */
  public long count() {
    long count = 0;
    for (int i = 0; i < buckets.length(); i++) {
      count += buckets.get(i);
    }
    return count;
  }

  /** What they took together. */
  public long totalNanos() {
    return totalNanos.sum();
  }

  /** The longest. */
  public long maxNanos() {
    return maxNanos.get();
  }

  /** No more than so many in a hundred took longer; 0 where there were none. */
  public long percentileNanos(int percent) {
    long count = count();
    long within = count - count * (100 - percent) / 100;
    long seen = 0;
    for (int i = 0; i < buckets.length() && count > 0; i++) {
      seen += buckets.get(i);
      if (seen >= within) {
        return Math.min(lastOf(i), maxNanos());
      }
    }
    return 0;
  }

  /** Below eight each number has its own; from there on eight share out each power of two. */
  private static int bucketOf(long nanos) {
    if (nanos < SUBS) {
      return (int) nanos;
    }
    int shift = Long.SIZE - 1 - SUB_BITS - Long.numberOfLeadingZeros(nanos);
    return (shift + 1) * SUBS + (int) (nanos >>> shift) - SUBS;
  }

  private static long lastOf(int bucket) {
    if (bucket < SUBS) {
      return bucket;
    }
    int shift = bucket / SUBS - 1;
    return ((long) (bucket % SUBS + SUBS + 1) << shift) - 1;
  }
}
