package dev.waymark.internal.io;

import dev.waymark.error.ErrorDetail;
import java.io.File;
import java.io.IOException;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A file of a real directory. What it does lives in {@link FileHandle}; this adds the closing and
 * the choice of how to map.
 */
final class RealFile implements StoreFile {
  private final FileHandle handle;
  private final File path;
  private final Mapping mapping;
  private volatile boolean closed;

  /**
   * Makes the file, which owns the handle.
   *
   * @param path for systems that cannot open a descriptor again
   */
  RealFile(FileHandle handle, File path, Mapping mapping) {
    this.handle = handle;
    this.path = path;
    this.mapping = mapping;
  }

  @Override
  public String name() {
    return handle.name();
  }

  @Override
  public long lengthBytes() {
    return open().lengthBytes();
  }

  @Override
  public long allocatedBytes() {
    return open().allocatedBytes();
  }

  @Override
  public void allocate(long offset, long length) {
    open().allocate(offset, length);
  }

  @Override
  public void setLength(long length) {
    open().setLength(length);
  }

  @Override
  public boolean punch(long offset, long length) {
    return open().punch(offset, length);
  }

  @Override
  public void read(long offset, MutableDirectBuffer target, int targetIndex, int length) {
    open().read(offset, target, targetIndex, length);
  }

  @Override
  public void write(long offset, DirectBuffer source, int sourceIndex, int length) {
    open().write(offset, source, sourceIndex, length);
  }

  @Override
  public void force() {
    open().force();
  }

  @Override
  public void startWriting(long offset, long length) {
    if (!closed) {
      handle.startWriting(offset, length);
    }
  }

  @Override
  public MappedRegion map(long length, boolean writable) {
    FileHandle open = open();
    // A region of no bytes would be no map.
    IoFailures.checkRange(name(), 0, length, Long.MAX_VALUE);
    IoFailures.checkRange(name(), 0, 1, length);
    if (writable) {
      open.checkWritable();
    }
    if (mapping == Mapping.POSITIONAL) {
      return positional(open, length, writable);
    }
    if (writable && mapping == Mapping.MAPPED_READS) {
      return written(open, length);
    }
    MappedRegion map = mapped(open, length, writable);
    return map == null ? positional(open, length, writable) : map;
  }

  /** Read by a map, where there are maps. */
  private MappedRegion written(FileHandle open, long length) {
    MappedRegion writes = positional(open, length, true);
    MappedRegion reads;
    try {
      reads = mapped(open, length, false);
    } catch (RuntimeException | Error e) {
      writes.close();
      throw e;
    }
    return reads == null ? writes : new WrittenRegion(reads, writes);
  }

  /** Null where the file system cannot map. */
  private MappedRegion mapped(FileHandle open, long length, boolean writable) {
    try {
      return ChronicleRegion.map(open, path, length, writable);
    } catch (IOException e) {
      if (Libc.cannotMap(String.valueOf(e.getMessage()))) {
        return null;
      }
      throw IoFailures.of(
          e, ErrorDetail.of("Mapping failed").at(name(), 0).expected("a map of " + length));
    }
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      handle.release();
    }
  }

  private static PositionalRegion positional(FileHandle handle, long length, boolean writable) {
    if (writable) {
      // As a writable map does.
      synchronized (handle.lengthLock()) {
        if (handle.lengthBytes() < length) {
          handle.setLength(length);
        }
      }
    }
    return new PositionalRegion(handle, length, writable);
  }

  private FileHandle open() {
    if (closed) {
      throw IoFailures.closed("A file was used after it had been closed", handle.name());
    }
    return handle;
  }
}
