package dev.waymark.internal.manifest;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.collections.LongArrayList;

/**
 * Reads a long manifest on a thread of its own, while the caller's takes the edits: decoding and
 * taking cost about the same.
 *
 * <p>Invariants: whatever the reading thread wrote, its owner sees once {@link #run} has returned;
 * the thread has ended by then, whichever side failed; and no more than {@link #MOST_WAITING}
 * pieces wait. Neither side waits for one that is gone.
 */
final class ReadAhead implements BatchSink {
  /** Below this a thread is not worth its start. */
  static final long LEAST_BYTES = 4 << 20;

  /** Batches may be of a single edit, and each that is handed over wakes somebody. */
  private static final int PIECE_EDITS = 1_024;

  private static final int MOST_WAITING = 4;

  /** How long one side waits before it looks whether the other is still there. */
  private static final long LOOK_MILLIS = 50;

  /** What was read, in order. */
  private record Piece(List<Edit> edits, LongArrayList offsets) {}

  /** Nobody takes what is read any more. */
  private static final class NotTaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotTaken() {
      super(null, null, false, false);
    }
  }

  private final BlockingQueue<Piece> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
  private final Thread thread;
  private List<Edit> edits = new ArrayList<>();
  private LongArrayList offsets = new LongArrayList();
  private volatile boolean isTaken = true;
  private volatile boolean isRead;
  private volatile Throwable failure;

  private ReadAhead(Consumer<BatchSink> reading) {
    thread = new Thread(() -> read(reading), "waymark-manifest");
    thread.setDaemon(true);
  }

  /**
   * Has a manifest read, and returns when all of it was taken.
   *
   * @param reading reads, and gives what it read to the sink; what it throws is thrown here, after
   *     what came before was taken
   * @param taker takes, on the caller's thread
   */
  static void run(Consumer<BatchSink> reading, BatchSink taker) {
    ReadAhead ahead = new ReadAhead(reading);
    try {
      ahead.thread.start();
    } catch (OutOfMemoryError e) {
      // The system has no thread to give, and nothing was read yet.
      reading.accept(taker);
      return;
    }
    try {
      ahead.takeAll(taker);
    } finally {
      ahead.isTaken = false;
      ahead.join();
    }
    ahead.throwFailure();
  }

  private void read(Consumer<BatchSink> reading) {
    try {
      reading.accept(this);
      isRead = true;
    } catch (Throwable e) {
      failure = e;
    }
    if (!edits.isEmpty()) {
      put();
    }
  }

  @Override
  public void take(List<Edit> batch, LongArrayList batchOffsets) {
    edits.addAll(batch);
    offsets.addAll(batchOffsets);
    if (edits.size() >= PIECE_EDITS) {
      put();
      edits = new ArrayList<>();
      offsets = new LongArrayList();
    }
  }

  private void put() {
    Piece piece = new Piece(edits, offsets);
    while (!waits(() -> waiting.offer(piece, LOOK_MILLIS, TimeUnit.MILLISECONDS))) {
      if (!isTaken) {
        throw new NotTaken();
      }
    }
  }

  private void takeAll(BatchSink taker) {
    while (true) {
      // Asked first: what a thread that has ended put there is there already.
      boolean isOver = !thread.isAlive();
      Piece piece =
          isOver ? waiting.poll() : waits(() -> waiting.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS));
      if (piece != null) {
        taker.take(piece.edits(), piece.offsets());
      } else if (isOver) {
        return;
      }
    }
  }

  private void join() {
    waits(
        () -> {
          thread.join();
          return true;
        });
  }

  private void throwFailure() {
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure instanceof Error e) {
      throw e;
    }
    if (!isRead) {
      throw new IllegalStateException("a manifest was not read to its end", failure);
    }
  }

  private interface Wait<T> {
    T run() throws InterruptedException;
  }

  /** Neither side ends early: an interruption is for whoever comes next. */
  private static <T> T waits(Wait<T> wait) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return wait.run();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
