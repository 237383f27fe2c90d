package dev.waymark.internal.codec;

import java.util.ArrayDeque;

/**
 * Lends scratch to threads and keeps a bounded number of idle ones, so that any number of threads
 * may come and go and what stays behind is bounded. Thread-safe.
 */
public final class CodecScratchPool implements AutoCloseable {
  private final ArrayDeque<CodecScratch> idle = new ArrayDeque<>();
  private final int maxIdle;
  private boolean closed;

  /** Makes a pool that keeps at most {@code maxIdle}. */
  public CodecScratchPool(int maxIdle) {
    this.maxIdle = maxIdle;
  }

  /** Takes one, the last one given back first, since its memory is the warmest. */
  public CodecScratch take() {
    synchronized (this) {
      if (!idle.isEmpty()) {
        return idle.pop();
      }
    }
    return new CodecScratch();
  }

  /** Gives one back. */
  public void give(CodecScratch scratch) {
    synchronized (this) {
      if (!closed && idle.size() < maxIdle) {
        idle.push(scratch);
        return;
      }
    }
    scratch.close();
  }

  /** Closes the idle ones, and the lent ones as they are given back; idempotent. */
  @Override
  public void close() {
    while (true) {
      CodecScratch scratch;
      synchronized (this) {
        closed = true;
        scratch = idle.poll();
      }
      if (scratch == null) {
        return;
      }
      scratch.close();
    }
  }
}
