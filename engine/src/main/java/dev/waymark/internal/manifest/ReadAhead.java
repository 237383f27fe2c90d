package dev.waymark.internal.manifest;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import org.agrona.collections.LongArrayList;

/**
 * Reads a long manifest on a thread of its own, while the caller's takes the edits: decoding and
 * taking cost about the same.
 *
 * <p>Invariants: whatever the reading thread wrote, its owner sees once {@link #run} has returned;
 * the thread is gone from the file by then, also where either side failed; and no more than {@link
 * #MOST_WAITING} pieces wait.
 */
final class ReadAhead implements BatchSink {
  /** Below this a thread is not worth its start. */
  static final long LEAST_BYTES = 4 << 20;

  /** Batches may be of a single edit, and each that is handed over wakes somebody. */
  private static final int PIECE_EDITS = 1_024;

  private static final int MOST_WAITING = 4;

  /** What was read, in order; the last one says how the reading ended. */
  private record Piece(
      List<Edit> edits, LongArrayList offsets, boolean isLast, Throwable failure) {}

  /** Nobody takes what is read any more. */
  private static final class NotTaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotTaken() {
      super(null, null, false, false);
    }
  }

  private final BlockingQueue<Piece> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
  private List<Edit> edits = new ArrayList<>();
  private LongArrayList offsets = new LongArrayList();
  private volatile boolean isTaken = true;

  private ReadAhead() {}

  /**
   * Has a manifest read, and returns when all of it was taken.
   *
   * @param reading reads, and gives what it read to the sink; what it throws is thrown here, after
   *     what came before was taken
   * @param taker takes, on the caller's thread
   */
  static void run(Consumer<BatchSink> reading, BatchSink taker) {
    ReadAhead ahead = new ReadAhead();
    Thread thread = new Thread(() -> ahead.read(reading), "waymark-manifest");
    thread.setDaemon(true);
    thread.start();
    ahead.takeAll(taker);
  }

  private void read(Consumer<BatchSink> reading) {
    Throwable failure = null;
    try {
      reading.accept(this);
    } catch (Throwable e) {
      failure = e;
    }
    put(new Piece(edits, offsets, true, failure));
  }

  @Override
  public void take(List<Edit> batch, LongArrayList batchOffsets) {
    if (!isTaken) {
      throw new NotTaken();
    }
    edits.addAll(batch);
    offsets.addAll(batchOffsets);
    if (edits.size() >= PIECE_EDITS) {
      put(new Piece(edits, offsets, false, null));
      edits = new ArrayList<>();
      offsets = new LongArrayList();
    }
  }

  private void takeAll(BatchSink taker) {
    Piece piece;
    Throwable failure = null;
    do {
      piece = next();
      if (failure == null) {
        try {
          taker.take(piece.edits(), piece.offsets());
        } catch (RuntimeException | Error e) {
          failure = e;
          isTaken = false;
        }
      }
    } while (!piece.isLast());
    if (failure == null) {
      failure = piece.failure();
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure instanceof Error e) {
      throw e;
    }
  }

  private void put(Piece piece) {
    waits(
        () -> {
          waiting.put(piece);
          return piece;
        });
  }

  private Piece next() {
    return waits(waiting::take);
  }

  private interface Wait {
    Piece run() throws InterruptedException;
  }

  /** Neither side ends early: an interruption is for whoever comes next. */
  private static Piece waits(Wait wait) {
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
