package dev.waymark.internal.log;

import dev.waymark.error.ClosedException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.codec.CodecScratch;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.zip.CRC32C;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Private direct memory in which bytes are checked, encoded and decoded: two buffers of a chunk and
 * some slack each, and a smaller one. Taken from a pool of a fixed number, so that what is in
 * flight is bounded however many threads append and restore.
 */
public final class Scratch implements AutoCloseable {
  /** Raw bytes a chunk at most. */
  public static final int CHUNK_BYTES = 1 << 20;

  /** Gathered, checksummed and written out while it is in the cache. */
  static final int STAGED_BYTES = 256 << 10;

  private static final int BUFFER_BYTES = CHUNK_BYTES + Alignment.PAGE_BYTES;

  /** Buffers of pools that were closed: making and clearing new ones is most of a small open. */
  private static final BlockingQueue<Scratch> SPARE = new ArrayBlockingQueue<>(4);

  private Pool pool;
  private final ByteBuffer rawBytes = allocate(BUFFER_BYTES);
  private final ByteBuffer storedBytes = allocate(BUFFER_BYTES);
  private final ByteBuffer stagedBytes = allocate(STAGED_BYTES);
  private final UnsafeBuffer raw = new UnsafeBuffer(rawBytes);
  private final UnsafeBuffer stored = new UnsafeBuffer(storedBytes);
  private final UnsafeBuffer staged = new UnsafeBuffer(stagedBytes);
  private UnsafeBuffer decoded;
  private final CRC32C crc = new CRC32C();
  private final CodecScratch codec = new CodecScratch();

  private Scratch(Pool pool) {
    this.pool = pool;
  }

  /** Holds raw bytes. */
  public UnsafeBuffer raw() {
    return raw;
  }

  /** Holds stored bytes. */
  public UnsafeBuffer stored() {
    return stored;
  }

  /** Holds what a lossy codec gives back, where that is checked. */
  UnsafeBuffer decoded() {
    if (decoded == null) {
      decoded = new UnsafeBuffer(allocate(BUFFER_BYTES));
    }
    return decoded;
  }

  /** Room for codecs. */
  public CodecScratch codec() {
    return codec;
  }

  /** Holds what goes out together: {@link #STAGED_BYTES}. */
  UnsafeBuffer staged() {
    return staged;
  }

  int checksumOfRaw(int index, int length) {
    crc.reset();
    addRaw(index, length);
    return (int) crc.getValue();
  }

  int checksumOfStored(int index, int length) {
    crc.reset();
    addStored(index, length);
    return (int) crc.getValue();
  }

  void restartChecksum() {
    crc.reset();
  }

  void addRaw(int index, int length) {
    crc.update(rawBytes.limit(index + length).position(index));
  }

  void addStaged(int index, int length) {
    crc.update(stagedBytes.limit(index + length).position(index));
  }

  void addStored(int index, int length) {
    crc.update(storedBytes.limit(index + length).position(index));
  }

  int checksum() {
    return (int) crc.getValue();
  }

  /** Gives the buffers back to the pool. */
  @Override
  public void close() {
    pool.give(this);
  }

  private static ByteBuffer allocate(int bytes) {
    return BufferUtil.allocateDirectAligned(bytes, Alignment.PAGE_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A fixed number of scratch buffers; taking one waits until one is free, or the pool closes. */
  public static final class Pool implements AutoCloseable {
    private final Deque<Scratch> free = new ArrayDeque<>();
    private final int capacity;
    private int made;
    private boolean closed;

    /** A pool of {@code capacity} scratches, made as they are needed. */
    public Pool(int capacity) {
      this.capacity = capacity;
    }

    /**
     * Takes a scratch, waiting for one uninterruptibly; the caller closes it.
     *
     * @throws ClosedException if the pool is closed, or closes meanwhile
     */
    public synchronized Scratch take() {
      boolean interrupted = false;
      try {
        while (true) {
          Scratch scratch = tryTake();
          if (scratch != null) {
            return scratch;
          }
          try {
            wait();
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

    /**
     * Takes a scratch if one is free now; else null.
     *
     * @throws ClosedException if the pool is closed
     */
    public synchronized Scratch tryTake() {
      if (closed) {
        throw new ClosedException(ErrorDetail.of("the store was closed").remedy("open it again"));
      }
      Scratch scratch = free.poll();
      return scratch != null || made == capacity ? scratch : make();
    }

    private Scratch make() {
      Scratch spare = SPARE.poll();
      Scratch scratch = spare != null ? spare : new Scratch(this);
      scratch.pool = this;
      made++;
      return scratch;
    }

    private synchronized void give(Scratch scratch) {
      if (closed) {
        spare(scratch);
      } else {
        free.push(scratch);
        notify();
      }
    }

    /** Leaves the buffers to other pools; one that is still out follows when it comes back. */
    @Override
    public synchronized void close() {
      closed = true;
      free.forEach(Pool::spare);
      free.clear();
      notifyAll();
    }

    private static void spare(Scratch scratch) {
      if (!SPARE.offer(scratch)) {
        scratch.codec.close();
      }
    }
  }
}
