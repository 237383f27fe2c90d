package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.internal.log.SpaceGate;

/**
 * Keeps the segments' files within what the quota leaves them.
 *
 * <p>Invariant: charged bytes never exceed quota less what is set apart for the manifest and the
 * small files.
 */
final class QuotaGate implements SpaceGate {
  private final long quotaBytes;
  private final long apartBytes;
  private long chargedBytes;

  QuotaGate(long quotaBytes, long apartBytes) {
    this.quotaBytes = quotaBytes;
    this.apartBytes = apartBytes;
  }

  @Override
  public synchronized void charge(long bytes) {
    if (bytes > quotaBytes - apartBytes - chargedBytes) {
      throw new QuotaExceededException(
          ErrorDetail.of("the store's quota is used up")
              .expected("at most " + quotaBytes + " bytes, " + apartBytes + " of them set apart")
              .found(chargedBytes + " in use and " + bytes + " asked for")
              .remedy("raise the quota, or delete what is not needed"));
    }
    chargedBytes += bytes;
  }

  @Override
  public synchronized void refund(long bytes) {
    chargedBytes -= bytes;
  }
}
