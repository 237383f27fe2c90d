package dev.waymark.internal.admit;

/**
 * Bytes that all prefills share. Whoever takes gives back as much, so that a budget nobody uses is
 * whole. For many threads.
 */
public final class Budget {
  private final long limitBytes;
  private long takenBytes;

  /** A budget of so many bytes. */
  public Budget(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /** Takes bytes if there are so many left. */
  public synchronized boolean tryTake(long bytes) {
    if (bytes > limitBytes - takenBytes) {
      return false;
    }
    takenBytes += bytes;
    return true;
  }

  /** Gives bytes back that were taken. */
  public synchronized void give(long bytes) {
    takenBytes -= bytes;
  }

  /** The whole of it. */
  public long limitBytes() {
    return limitBytes;
  }

  /** What is taken. */
  public synchronized long takenBytes() {
    return takenBytes;
  }

  /** What is left. */
  public synchronized long leftBytes() {
    return limitBytes - takenBytes;
  }
}
