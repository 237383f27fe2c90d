package dev.waymark.internal.log;

/** How one append brings its bytes in flight: some were taken ahead, and need not wait. */
public final class Flight implements AutoCloseable {
  private final InFlight inFlight;
  private final long mostBytes;
  private long aheadBytes;

  Flight(InFlight inFlight, long aheadBytes, long mostBytes) {
    this.inFlight = inFlight;
    this.aheadBytes = aheadBytes;
    this.mostBytes = mostBytes;
  }

  /** No more may be in flight with one of its records, unless that is alone. */
  long mostBytes() {
    return mostBytes;
  }

  long aheadBytes() {
    return aheadBytes;
  }

  /** Uses what was taken ahead, as far as there is any. */
  void use(long bytes) {
    long own = Math.min(bytes, aheadBytes);
    aheadBytes -= own;
    inFlight.usedAhead(own);
  }

  /** Gives back what was not used. Idempotent. */
  @Override
  public void close() {
    synchronized (inFlight.lock()) {
      use(aheadBytes);
      inFlight.lock().notifyAll();
    }
  }
}
