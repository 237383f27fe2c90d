package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.internal.log.SpaceGate;

/**
 * Keeps every file of the store within its quota.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Nothing is charged that would bring segments, what is reserved for others, and what is set
 *       apart above the quota.
 *   <li>Apart stand the small files, and the manifest twice over with some growth: so that it can
 *       grow between two looks at it, and a checkpoint can stand beside its predecessor. And room
 *       for what is copied before its original goes: by compaction, and after a failed force.
 *   <li>Only what was found at open, a lowered quota, or a manifest that grew, leaves more in use
 *       than there may be; until that is evicted every charge is refused but those that free space.
 * </ul>
 */
final class QuotaGate implements SpaceGate {
  /** What the manifest may grow by between two looks at it, footers of segments included. */
  static final long GROWTH_BYTES = 1L << 20;

  private static final long SEALING_BYTES = GROWTH_BYTES / 2;

  /** Pays for what is copied so that its original can go, out of what is held back for it. */
  static final Payer COPYING = new Payer() {};

  private final long copyingBytes;
  private long quotaBytes;
  private long otherFilesBytes;
  private long manifestBytes;
  private long chargedBytes;
  private long reservedBytes;
  private long claimedBytes;

  /**
   * A gate.
   *
   * @param copyingBytes set apart for what is copied before the original goes
   */
  QuotaGate(long quotaBytes, long copyingBytes) {
    this.quotaBytes = quotaBytes;
    this.copyingBytes = copyingBytes;
  }

  /**
   * Room that one prefill will find, made by eviction when it starts: what is reserved for others
   * leaves so much of it.
   */
  final class Claim {
    private long bytes;

    private Claim(long bytes) {
      this.bytes = bytes;
    }

    /** Takes it back. Idempotent. */
    void withdraw() {
      synchronized (QuotaGate.this) {
        claimedBytes -= bytes;
        bytes = 0;
      }
    }
  }

  /** A claim to nothing. */
  Claim noClaim() {
    return new Claim(0);
  }

  /**
   * Lays a claim to room.
   *
   * @param roomBytes what could be made, beside what is claimed
   * @return null where that is less than {@code bytes}
   */
  synchronized Claim tryClaim(long bytes, long roomBytes) {
    if (bytes > roomBytes - claimedBytes) {
      return null;
    }
    claimedBytes += bytes;
    return new Claim(bytes);
  }

  synchronized long claimedBytes() {
    return claimedBytes;
  }

  /** Room that one prefill has for itself. */
  final class Reservation implements Payer {
    private long bytes;
    private boolean ended;

    private Reservation() {}

    /** Gives back what is left. */
    void end() {
      synchronized (QuotaGate.this) {
        reservedBytes -= bytes;
        bytes = 0;
        ended = true;
      }
    }
  }

  /** A reservation of nothing. */
  Reservation reservation() {
    return new Reservation();
  }

  /** Adds to a reservation if there is room for it now, beside what is claimed. */
  synchronized boolean tryReserve(Reservation reservation, long bytes) {
    if (bytes > freeBytes() - (bytes > 0 ? claimedBytes : 0)) {
      return false;
    }
    if (!reservation.ended) {
      reservation.bytes += bytes;
      reservedBytes += bytes;
    }
    return true;
  }

  @Override
  public synchronized void charge(long bytes, Payer payer) {
    long own = payer instanceof Reservation reservation ? Math.min(bytes, reservation.bytes) : 0;
    long slack = payer == SEALING ? SEALING_BYTES : payer == COPYING ? copyingBytes : 0;
    if (payer != ADOPTED && bytes - own > freeBytes() + slack) {
      throw new QuotaExceededException(
          ErrorDetail.of("the store's quota is used up")
              .expected("at most " + quotaBytes + " bytes, " + apartBytes() + " of them set apart")
              .found(
                  chargedBytes
                      + " in use, "
                      + reservedBytes
                      + " reserved and "
                      + bytes
                      + " asked for")
              .remedy("raise the quota, or delete what is not needed"));
    }
    chargedBytes += bytes;
    if (payer instanceof Reservation reservation) {
      reservation.bytes -= own;
      reservedBytes -= own;
    }
  }

  @Override
  public synchronized void refund(long bytes, Payer payer) {
    chargedBytes -= bytes;
    if (payer instanceof Reservation reservation && !reservation.ended) {
      reservation.bytes += bytes;
      reservedBytes += bytes;
    }
  }

  /** Whether more is in use than there may be, whatever is set apart. */
  synchronized boolean isExceeded() {
    return otherFilesBytes + manifestBytes + chargedBytes > quotaBytes;
  }

  synchronized long quotaBytes() {
    return quotaBytes;
  }

  synchronized void setQuotaBytes(long bytes) {
    quotaBytes = bytes;
  }

  /** What files that are neither segments nor the manifest occupy. */
  synchronized void setOtherFilesBytes(long bytes) {
    otherFilesBytes = bytes;
  }

  synchronized long otherFilesBytes() {
    return otherFilesBytes;
  }

  /** What the manifest in force occupies. */
  synchronized void setManifestBytes(long bytes) {
    manifestBytes = bytes;
  }

  /** What nobody uses or has reserved; below 0 where the quota is exceeded. */
  synchronized long freeBytes() {
    return quotaBytes - apartBytes() - chargedBytes - reservedBytes;
  }

  /** What segments could ever occupy. */
  synchronized long segmentsMostBytes() {
    return quotaBytes - apartBytes();
  }

  synchronized long reservedBytes() {
    return reservedBytes;
  }

  synchronized long apartBytes() {
    return otherFilesBytes + 2 * manifestBytes + GROWTH_BYTES + copyingBytes;
  }
}
