package dev.waymark.internal.io;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.StoreIoException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.Reference;
import java.nio.channels.ClosedByInterruptException;
import net.openhft.chronicle.bytes.MappedBytesStore;
import net.openhft.chronicle.bytes.MappedFile;
import net.openhft.chronicle.bytes.SyncMode;
import net.openhft.chronicle.core.io.IORuntimeException;
import net.openhft.chronicle.core.io.ReferenceOwner;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;

/**
 * A map of a file by Chronicle Bytes: one chunk as long as the region, no overlap.
 *
 * <p>The one class that touches mapped memory. Invariants:
 *
 * <ul>
 *   <li>Mapped memory is only ever copied, to or from private memory, by {@link #copy}; its address
 *       never leaves this class.
 *   <li>Each copy is followed by a fence inside the same {@code try}. On JDK 17 the {@code
 *       InternalError} of a fault in a compiled copy is thrown not at the copy but anywhere later
 *       in the thread; allocating an array of arrays whose lengths are not known to the compiler
 *       brings it out at once.
 *   <li>Chronicle gets the file by its open descriptor, not by its path, where the system can do
 *       that: so it can neither make a file, nor map another one that took the name.
 *   <li>A writable map of a file that is shorter extends it, sparsely, to exactly its own length
 *       and no further; a writer still allocates before it touches. A map for reading never changes
 *       the file.
 *   <li>{@link #close} unmaps before it returns. Chronicle's own descriptor is closed as soon as
 *       the map stands, or could not be made.
 * </ul>
 */
final class ChronicleRegion implements MappedRegion {
  /** Bytes to a copy, so that a thread in it holds up a safepoint for no longer than the JDK's. */
  private static final int STEP_BYTES = 1 << 20;

  /** Mapping sizes are taken to the byte; the kernel rounds the map itself up to pages. */
  private static final int NO_ROUNDING = 1;

  private static final File DESCRIPTORS = new File("/proc/self/fd");

  // Fields, so that the compiler cannot see what they hold and drop the fence.
  private static int one = 1;
  private static int zero = 0;

  @SuppressWarnings("UnusedVariable")
  private static Object sink;

  private final String name;
  private final long lengthBytes;
  private final boolean writable;
  private final PromptStore store;
  private final ReferenceOwner owner;
  private final FileHandle forceHandle;
  private volatile long address;

  private ChronicleRegion(
      FileHandle handle, long length, boolean writable, PromptStore store, ReferenceOwner owner) {
    this.name = handle.name();
    this.lengthBytes = length;
    this.writable = writable;
    this.store = store;
    this.owner = owner;
    this.address = store.addressForRead(0);
    // Without a native msync the file's own descriptor is what is left to force through.
    this.forceHandle = Libc.isAvailable() ? null : handle.retain();
  }

  /**
   * Maps {@code [0, length)}.
   *
   * @throws IOException if the file system refuses to map; everything else is typed
   */
  static ChronicleRegion map(FileHandle handle, File path, long length, boolean writable)
      throws IOException {
    // Chronicle uses channels that an interruption would close or make it complain.
    boolean interrupted = false;
    try {
      while (true) {
        interrupted |= Thread.interrupted();
        try {
          return mapOnce(handle, path, length, writable);
        } catch (ClosedByInterruptException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public long lengthBytes() {
    return lengthBytes;
  }

  @Override
  public void get(long offset, MutableDirectBuffer target, int targetIndex, int length) {
    long from = open() + offset;
    IoFailures.checkRange(name, offset, length, lengthBytes);
    BufferViews.checkTarget(target, targetIndex, length);
    byte[] array = target.byteArray();
    long to = target.addressOffset() + targetIndex;
    try {
      int done = 0;
      while (done < length) {
        int step = Math.min(STEP_BYTES, length - done);
        try {
          copy(null, from + done, array, to + done, step);
        } catch (InternalError e) {
          throw fault("Reading a mapped page failed", offset + done, step, e);
        }
        done += step;
      }
    } finally {
      Reference.reachabilityFence(target);
    }
  }

  @Override
  public void put(long offset, DirectBuffer source, int sourceIndex, int length) {
    long to = open() + offset;
    IoFailures.checkRange(name, offset, length, lengthBytes);
    BufferViews.checkRange(source, sourceIndex, length);
    if (!writable) {
      throw new InvalidArgumentException(
          ErrorDetail.of("A region for reading was written to").at(name, offset));
    }
    byte[] array = source.byteArray();
    long from = source.addressOffset() + sourceIndex;
    try {
      int done = 0;
      while (done < length) {
        int step = Math.min(STEP_BYTES, length - done);
        try {
          copy(array, from + done, null, to + done, step);
        } catch (InternalError e) {
          throw fault("Writing a mapped page failed", offset + done, step, e);
        }
        done += step;
      }
    } finally {
      Reference.reachabilityFence(source);
    }
  }

  @Override
  public void force(long offset, long length) {
    long base = open();
    IoFailures.checkRange(name, offset, length, lengthBytes);
    if (length == 0) {
      return;
    }
    if (forceHandle != null) {
      forceHandle.force();
      return;
    }
    // The map starts on a page, so the range's first page is found by the offset alone.
    long start = offset - offset % UnsafeApi.pageSize();
    int errno = Libc.syncMapped(base + start, offset + length - start);
    if (errno != 0) {
      throw IoFailures.of(
          errno,
          ErrorDetail.of("Making mapped pages durable failed")
              .at(name, offset)
              .expected(length + " bytes to be on the device"));
    }
  }

  @Override
  public synchronized void close() {
    if (address == 0) {
      return;
    }
    address = 0;
    store.release(owner);
    if (forceHandle != null) {
      forceHandle.release();
    }
  }

  private static void copy(Object from, long fromOffset, Object to, long toOffset, int length) {
    UnsafeApi.copyMemory(from, fromOffset, to, toOffset, length);
    sink = new byte[one][zero];
  }

  private static ChronicleRegion mapOnce(
      FileHandle handle, File path, long length, boolean writable) throws IOException {
    synchronized (handle.lengthLock()) {
      long before = handle.lengthBytes();
      boolean extended = writable && before < length;
      boolean mapped = false;
      if (extended) {
        handle.setLength(length);
      }
      try {
        ChronicleRegion region = mapExactly(handle, path, length, writable);
        mapped = true;
        return region;
      } finally {
        if (extended && !mapped) {
          handle.setLength(before);
        }
      }
    }
  }

  private static ChronicleRegion mapExactly(
      FileHandle handle, File path, long length, boolean writable) throws IOException {
    ReferenceOwner owner = ReferenceOwner.temporary("region");
    try (MappedFile file =
        MappedFile.of(reopenable(handle, path), length, 0, NO_ROUNDING, !writable)) {
      try {
        PromptStore store = (PromptStore) file.acquireByteStore(owner, 0, null, PromptStore::new);
        store.syncMode(SyncMode.NONE);
        return new ChronicleRegion(handle, length, writable, store, owner);
      } finally {
        closeQuietly(file.raf());
      }
    } catch (IORuntimeException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e);
    } catch (IOException e) {
      if (e.getCause() instanceof OutOfMemoryError) {
        throw new StoreIoException(
            ErrorDetail.of("Mapping failed")
                .at(handle.name(), 0)
                .expected("room for a map of " + length + " bytes")
                .found("no room or too many maps")
                .remedy("raise vm.max_map_count or the limit of virtual memory (ulimit -v)"),
            e);
      }
      throw e;
    }
  }

  /** Left to Chronicle, a thread in the background would close it at some later time. */
  private static void closeQuietly(RandomAccessFile descriptor) {
    try {
      descriptor.close();
    } catch (IOException e) {
      // It is closed all the same, and nothing was written through it.
      return;
    }
  }

  private static File reopenable(FileHandle handle, File path) {
    File open = new File(DESCRIPTORS, Integer.toString(handle.descriptor()));
    return open.exists() ? open : path;
  }

  private long open() {
    long base = address;
    if (base == 0) {
      throw IoFailures.closed("A region was used after it had been unmapped", name);
    }
    return base;
  }

  private StoreIoException fault(String what, long offset, int length, InternalError cause) {
    return new StoreIoException(
        ErrorDetail.of(what)
            .at(name, offset)
            .expected(length + " bytes")
            .found("a page that the system could not provide")
            .remedy("the file was cut short while in use, or the device failed: check both"),
        cause);
  }

  /**
   * Chronicle's store, but unmapped by the thread that releases it: by default a thread in the
   * background does that at some later time, and the disk space of a removed file comes back only
   * then.
   */
  private static final class PromptStore extends MappedBytesStore {
    PromptStore(
        ReferenceOwner owner,
        MappedFile file,
        long start,
        long address,
        long capacity,
        long safeCapacity,
        int pageSize) {
      super(owner, file, start, address, capacity, safeCapacity, pageSize);
    }

    @Override
    protected boolean canReleaseInBackground() {
      return false;
    }
  }
}
