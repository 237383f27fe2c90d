package dev.waymark.internal.log;

import dev.waymark.internal.codec.CodecScratch;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.zip.CRC32C;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Private direct memory in which bytes are checked, encoded and decoded: two buffers of a chunk and
 * some slack each. Taken from a pool of a fixed number, so that what is in flight is bounded
 * however many threads append and restore.
 */
public final class Scratch implements AutoCloseable {
  /** Raw bytes a chunk at most. */
  public static final int CHUNK_BYTES = 1 << 20;

  private static final int BUFFER_BYTES = CHUNK_BYTES + Alignment.PAGE_BYTES;

  /** Buffers of pools that were closed: making and clearing new ones is most of a small open. */
  private static final BlockingQueue<Scratch> SPARE = new ArrayBlockingQueue<>(4);

  private Pool pool;
  private final ByteBuffer rawBytes = allocate();
  private final ByteBuffer storedBytes = allocate();
  private final UnsafeBuffer raw = new UnsafeBuffer(rawBytes);
  private final UnsafeBuffer stored = new UnsafeBuffer(storedBytes);
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
      decoded = new UnsafeBuffer(allocate());
    }
    return decoded;
  }

  /** Room for codecs. */
  public CodecScratch codec() {
    return codec;
  }

  int checksumOfRaw(int index, int length) {
    crc.reset();
    addRaw(index, length);
    return (int) crc.getValue();
  }

  int checksumOfStored(int index, int length) {
    crc.reset();
    crc.update(storedBytes.limit(index + length).position(index));
    return (int) crc.getValue();
  }

  void restartChecksum() {
    crc.reset();
  }

  void addRaw(int index, int length) {
    crc.update(rawBytes.limit(index + length).position(index));
  }

  int checksum() {
    return (int) crc.getValue();
  }

  /** Gives the buffers back to the pool. */
  @Override
  public void close() {
    pool.give(this);
  }

  private static ByteBuffer allocate() {
    return BufferUtil.allocateDirectAligned(BUFFER_BYTES, Alignment.PAGE_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A fixed number of scratch buffers; taking one waits until one is free. */
  public static final class Pool implements AutoCloseable {
    private final BlockingQueue<Scratch> free;
    private final int capacity;
    private int made;
    private volatile boolean closed;

    /** A pool of {@code capacity} scratches, made as they are needed. */
    public Pool(int capacity) {
      this.capacity = capacity;
      this.free = new ArrayBlockingQueue<>(capacity);
    }

    /** Takes a scratch, waiting for one uninterruptibly; the caller closes it. */
    public Scratch take() {
      Scratch scratch = tryTake();
      if (scratch != null) {
        return scratch;
      }
      boolean interrupted = false;
      try {
        while (true) {
          try {
            return free.take();
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

    /** Takes a scratch if one is free now; else null. */
    public Scratch tryTake() {
      Scratch scratch = free.poll();
      return scratch != null ? scratch : make();
    }

    private synchronized Scratch make() {
      if (made == capacity) {
        return null;
      }
      made++;
      Scratch spare = SPARE.poll();
      if (spare == null) {
        return new Scratch(this);
      }
      spare.pool = this;
      return spare;
    }

    private void give(Scratch scratch) {
      free.add(scratch);
      if (closed) {
        close();
      }
    }

    /** Leaves the buffers to other pools; one that is still out follows when it comes back. */
    @Override
    public void close() {
      closed = true;
      for (Scratch scratch = free.poll(); scratch != null; scratch = free.poll()) {
        if (!SPARE.offer(scratch)) {
          scratch.codec.close();
        }
      }
    }
  }
}
