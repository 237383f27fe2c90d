package dev.waymark.internal.io;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One descriptor and all that is done through it. Shared by a file and by the regions that read and
 * write through it; closed by the last of them.
 *
 * <p>Invariants: a native call uses the descriptor's number only under the read lock of {@link
 * #use} and after seeing the channel open, and closing takes the write lock, so that no call can
 * hit a number that was given to another file meanwhile. Whatever changes the length holds {@link
 * #lengthLock}.
 */
final class FileHandle {
  static final int BLOCK_BYTES = 4096;
  private static final int STEP_BYTES = 1 << 20;

  private final String name;
  private final FileChannel channel;
  private final int descriptor;
  private final boolean writable;
  private final boolean nativeCalls;
  private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();
  private final Object lengthLock = new Object();
  private int owners = 1;

  FileHandle(String name, FileChannel channel, boolean writable) {
    this(name, channel, writable, true);
  }

  /**
   * Makes the handle.
   *
   * @param nativeCalls false to take every fallback that is there for systems without those calls
   */
  FileHandle(String name, FileChannel channel, boolean writable, boolean nativeCalls) {
    this.name = name;
    this.channel = channel;
    this.descriptor = Channels.descriptor(channel);
    this.writable = writable;
    this.nativeCalls = nativeCalls;
  }

  String name() {
    return name;
  }

  Object lengthLock() {
    return lengthLock;
  }

  /** Number of the descriptor, for use while the caller owns the handle. */
  int descriptor() {
    return descriptor;
  }

  /** Refuses what only a file for writing can do. */
  void checkWritable() {
    if (!writable) {
      throw new InvalidArgumentException(
          ErrorDetail.of("A file for reading only was to be changed")
              .in(name)
              .remedy("open it for writing"));
    }
  }

  synchronized FileHandle retain() {
    if (owners == 0) {
      throw IoFailures.closed("A file was used after its last owner had closed it", name);
    }
    owners++;
    return this;
  }

  synchronized void release() {
    if (owners == 0 || --owners > 0) {
      return;
    }
    Lock lock = use.writeLock();
    lock.lock();
    try {
      channel.close();
    } catch (IOException e) {
      // The descriptor is gone all the same. What was written counts only once it was forced.
      return;
    } finally {
      lock.unlock();
    }
  }

  long lengthBytes() {
    try {
      return channel.size();
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Asking for the length failed").in(name));
    }
  }

  /**
   * Asks the file system how much it has allocated; where that cannot be asked, the length rounded
   * up to blocks, which is too much for a sparse file.
   */
  long allocatedBytes() {
    long allocated = nativeCalls ? guarded(() -> Libc.allocatedBytes(descriptor)) : -1;
    return allocated >= 0 ? allocated : roundUpToBlocks(lengthBytes());
  }

  static long roundUpToBlocks(long length) {
    return (length + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
  }

  void allocate(long offset, long length) {
    checkWritable();
    IoFailures.checkRange(name, offset, length, Long.MAX_VALUE);
    if (length == 0) {
      return;
    }
    synchronized (lengthLock) {
      long before = lengthBytes();
      int errno = nativeCalls ? (int) guarded(() -> Libc.allocate(descriptor, offset, length)) : -1;
      if (errno == 0) {
        return;
      }
      try {
        if (errno != -1 && !isUnsupported(errno)) {
          throw IoFailures.of(errno, allocationFailed(offset, length));
        }
        writeZeros(offset, length, before);
      } catch (RuntimeException e) {
        giveBack(offset, before, e);
        throw e;
      }
    }
  }

  void setLength(long length) {
    checkWritable();
    IoFailures.checkRange(name, 0, length, Long.MAX_VALUE);
    synchronized (lengthLock) {
      int errno = nativeCalls ? (int) guarded(() -> Libc.truncate(descriptor, length)) : -1;
      if (errno == 0) {
        return;
      }
      if (errno != -1 && !isUnsupported(errno)) {
        throw IoFailures.of(errno, ErrorDetail.of("Setting the length failed").at(name, length));
      }
      try {
        if (length < channel.size()) {
          channel.truncate(length);
        } else if (length > channel.size()) {
          // Java cannot extend a file without writing; this allocates its last block.
          channel.write(ByteBuffer.allocate(1), length - 1);
        }
      } catch (IOException e) {
        throw IoFailures.of(e, ErrorDetail.of("Setting the length failed").at(name, length));
      }
    }
  }

  boolean punch(long offset, long length) {
    checkWritable();
    IoFailures.checkRange(name, offset, length, Long.MAX_VALUE);
    if (offset % BLOCK_BYTES != 0 || length % BLOCK_BYTES != 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("A range to punch was refused")
              .at(name, offset)
              .expected("multiples of " + BLOCK_BYTES)
              .found(length + " bytes"));
    }
    if (length == 0) {
      return true;
    }
    int errno = nativeCalls ? (int) guarded(() -> Libc.punch(descriptor, offset, length)) : -1;
    if (errno == 0) {
      return true;
    }
    if (errno == -1 || isUnsupported(errno)) {
      return false;
    }
    throw IoFailures.of(errno, ErrorDetail.of("Giving back " + length + " bytes").at(name, offset));
  }

  void read(long offset, MutableDirectBuffer target, int targetIndex, int length) {
    int got = readUpTo(offset, target, targetIndex, length);
    if (got < length) {
      throw new CorruptionException(
          ErrorDetail.of("The file ends too early")
              .at(name, offset)
              .expected(length + " bytes")
              .found(got + " bytes")
              .remedy("check the store"));
    }
  }

  /** Returns how many bytes there were before the file ended, at most {@code length}. */
  int readUpTo(long offset, MutableDirectBuffer target, int targetIndex, int length) {
    IoFailures.checkRange(name, offset, length, Long.MAX_VALUE);
    try {
      ByteBuffer view = BufferViews.ofTarget(target, targetIndex, length);
      if (view != null) {
        return Transfers.all(channel::read, view, offset);
      }
      return readThroughScratch(offset, target, targetIndex, length);
    } catch (IOException e) {
      throw IoFailures.of(
          e, ErrorDetail.of("Reading failed").at(name, offset).expected(length + " bytes"));
    } finally {
      Reference.reachabilityFence(target);
    }
  }

  void write(long offset, DirectBuffer source, int sourceIndex, int length) {
    checkWritable();
    IoFailures.checkRange(name, offset, length, Long.MAX_VALUE);
    try {
      ByteBuffer view = BufferViews.of(source, sourceIndex, length);
      if (view != null) {
        Transfers.all(channel::write, view, offset);
      } else {
        writeThroughScratch(offset, source, sourceIndex, length);
      }
    } catch (IOException e) {
      throw IoFailures.of(
          e, ErrorDetail.of("Writing failed").at(name, offset).expected(length + " bytes"));
    } finally {
      Reference.reachabilityFence(source);
    }
  }

  /**
   * Synchronises data and length. On Linux this covers what was written through a map of the same
   * file; elsewhere the map's own force has to come first.
   */
  void force() {
    try {
      channel.force(false);
    } catch (IOException e) {
      throw IoFailures.of(
          e,
          ErrorDetail.of("Making the file durable failed")
              .in(name)
              .expected("everything written to be on the device"));
    }
  }

  /** Begins to write a range to the device, where the system can. */
  void startWriting(long offset, long length) {
    if (nativeCalls) {
      guarded(() -> Libc.startWriting(descriptor, offset, length));
    }
  }

  private static boolean isUnsupported(int errno) {
    return errno == Libc.ENOTSUP || errno == Libc.ENOSYS;
  }

  private ErrorDetail allocationFailed(long offset, long length) {
    return ErrorDetail.of("Allocation failed").at(name, offset).expected(length + " bytes");
  }

  /**
   * Stands in for allocation. What is below the old length may hold bytes, so there only blocks
   * that read as zeros are written; nobody else may write to the range meanwhile. Forced at the
   * end, since a file system that cannot allocate may also promise space that it does not have.
   */
  private void writeZeros(long offset, long length, long before) {
    ByteBuffer zeros = ByteBuffer.allocateDirect(STEP_BYTES);
    ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
    try {
      long end = Math.addExact(offset, length);
      long at = offset;
      while (at < Math.min(end, before)) {
        int step = (int) Math.min(BLOCK_BYTES - at % BLOCK_BYTES, Math.min(end, before) - at);
        block.clear().limit(step);
        Transfers.all(channel::read, block, at);
        block.flip();
        if (block.mismatch(zeros.clear().limit(block.limit())) < 0) {
          Transfers.all(channel::write, block, at);
        }
        at += step;
      }
      while (at < end) {
        int step = (int) Math.min(STEP_BYTES, end - at);
        Transfers.all(channel::write, zeros.clear().limit(step), at);
        at += step;
      }
      channel.force(false);
    } catch (IOException e) {
      throw IoFailures.of(e, allocationFailed(offset, length));
    } finally {
      BufferUtil.free(zeros);
      BufferUtil.free(block);
    }
  }

  /**
   * Undoes an allocation that failed half way, and cuts in any case: blocks beyond the end that a
   * failed call left go too. Inside the file's length, where a segment lies that is mapped whole,
   * some file systems leave what they had found: only cutting the file takes that away.
   */
  private void giveBack(long offset, long before, RuntimeException failure) {
    try {
      setLength(Math.min(offset, before));
      setLength(before);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private int readThroughScratch(long offset, MutableDirectBuffer target, int index, int length)
      throws IOException {
    ByteBuffer scratch = ByteBuffer.allocateDirect(Math.min(length, STEP_BYTES));
    try {
      int done = 0;
      while (done < length) {
        int step = Math.min(STEP_BYTES, length - done);
        int got = Transfers.all(channel::read, scratch.clear().limit(step), offset + done);
        target.putBytes(index + done, scratch, 0, got);
        done += got;
        if (got < step) {
          break;
        }
      }
      return done;
    } finally {
      BufferUtil.free(scratch);
    }
  }

  private void writeThroughScratch(long offset, DirectBuffer source, int index, int length)
      throws IOException {
    ByteBuffer scratch = ByteBuffer.allocateDirect(Math.min(length, STEP_BYTES));
    try {
      int done = 0;
      while (done < length) {
        int step = Math.min(STEP_BYTES, length - done);
        source.getBytes(index + done, scratch, 0, step);
        Transfers.all(channel::write, scratch.clear().limit(step), offset + done);
        done += step;
      }
    } finally {
      BufferUtil.free(scratch);
    }
  }

  private long guarded(NativeCall call) {
    Lock lock = use.readLock();
    lock.lock();
    try {
      if (!channel.isOpen()) {
        throw IoFailures.closed("A file was used after it had been closed", name);
      }
      return call.result();
    } finally {
      lock.unlock();
    }
  }

  private interface NativeCall {
    long result();
  }
}
