package dev.waymark.internal.log;

import dev.waymark.internal.io.StoreFile;

/**
 * Has the system write to the device what lies behind a writer that goes forward in a file: so that
 * the disk works while the writer copies, and a force finds little left to do. It promises nothing;
 * only a force makes durable.
 *
 * <p>Invariant: it is told of bytes once they are not going to be written again.
 */
final class WriteBehind {
  /** Large enough to be written at the disk's full speed. */
  static final int STEP_BYTES = 2 << 20;

  private final StoreFile file;
  private long from;

  /** What is written from this offset on. */
  WriteBehind(StoreFile file, long from) {
    this.file = file;
    this.from = from;
  }

  /** The writer will come back to a range that it is about to pass: the force writes that. */
  void leaveOut(long start, long end) {
    start(start);
    from = end;
  }

  /** The writer has come so far. */
  void reached(long end) {
    if (end - from >= STEP_BYTES) {
      start(end - end % Alignment.PAGE_BYTES);
    }
  }

  private void start(long end) {
    if (end > from) {
      file.startWriting(from, end - from);
      from = end;
    }
  }
}
