package dev.waymark;

import java.util.function.LongSupplier;

/**
 * How fast something may be written: so many bytes a second.
 *
 * <p>Invariants: in no stretch of time is more written than its seconds times the rate, a quarter
 * of a second's worth, and the last step that was begun. A clock that jumps gives a second's worth
 * at most, and takes none.
 */
final class Throttle {
  private static final long MOST_MILLIS = 1_000;
  private static final long BURSTS_PER_SECOND = 4;

  private final long bytesPerSecond;
  private final LongSupplier clockMillis;
  private long lastMillis;
  private long allowedBytes;

  Throttle(long bytesPerSecond, LongSupplier clockMillis) {
    this.bytesPerSecond = bytesPerSecond;
    this.clockMillis = clockMillis;
    this.lastMillis = clockMillis.getAsLong();
    this.allowedBytes = burstBytes();
  }

  private long burstBytes() {
    return Math.max(1, bytesPerSecond / BURSTS_PER_SECOND);
  }

  /** What may be written now; 0 or less where some time has to pass. */
  synchronized long allowedBytes() {
    long now = clockMillis.getAsLong();
    long passed = Math.max(0, Math.min(MOST_MILLIS, now - lastMillis));
    lastMillis = now;
    long earned = (long) (bytesPerSecond / 1_000.0 * passed);
    allowedBytes = Math.min(burstBytes(), allowedBytes + earned);
    return allowedBytes;
  }

  /** So much was written. */
  synchronized void spent(long bytes) {
    allowedBytes -= bytes;
  }
}
