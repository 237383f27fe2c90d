package dev.waymark.internal.log;

/**
 * Bytes of records that are being written or that no force has covered yet, and those that a {@link
 * Flight} took ahead. Guarded by its lock, the monitor of the {@link SegmentSet} that owns it; who
 * waits there is told when bytes land.
 */
final class InFlight {
  private final Object lock;
  private long bytes;
  private long aheadBytes;

  InFlight(Object lock) {
    this.lock = lock;
  }

  Object lock() {
    return lock;
  }

  long bytes() {
    return bytes;
  }

  /** Whether so many more leave no more in flight than there may be, or would be alone. */
  boolean allows(long moreBytes, long mostBytes) {
    long others = bytes + aheadBytes;
    return others == 0 || moreBytes <= mostBytes - others;
  }

  /** Takes bytes ahead. */
  Flight ahead(long takenBytes, long mostBytes) {
    aheadBytes += takenBytes;
    return new Flight(this, takenBytes, mostBytes);
  }

  void tookOff(long newBytes, Flight flight) {
    bytes += newBytes;
    flight.use(newBytes);
  }

  void landed(long landedBytes) {
    bytes -= landedBytes;
    lock.notifyAll();
  }

  void usedAhead(long usedBytes) {
    aheadBytes -= usedBytes;
  }
}
