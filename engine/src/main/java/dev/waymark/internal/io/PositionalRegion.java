package dev.waymark.internal.io;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.StoreIoException;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The contract of a map kept by positional reads and writes: for file systems that cannot map, and
 * as the yardstick of the map. It holds the descriptor open until it is closed.
 *
 * <p>Unlike a map, it can be written beyond the end of a file that was cut short; a writer that
 * allocates first never does.
 */
final class PositionalRegion implements MappedRegion {
  private final FileHandle handle;
  private final long lengthBytes;
  private final boolean writable;
  private volatile boolean closed;

  PositionalRegion(FileHandle handle, long length, boolean writable) {
    this.handle = handle.retain();
    this.lengthBytes = length;
    this.writable = writable;
  }

  @Override
  public long lengthBytes() {
    return lengthBytes;
  }

  @Override
  public void get(long offset, MutableDirectBuffer target, int targetIndex, int length) {
    check(offset, length);
    int got = handle.readUpTo(offset, target, targetIndex, length);
    if (got < length) {
      throw new StoreIoException(
          ErrorDetail.of("The file ends inside the region")
              .at(handle.name(), offset)
              .expected(length + " bytes")
              .found(got + " bytes")
              .remedy("the file was cut short while in use: check the store"));
    }
  }

  @Override
  public void put(long offset, DirectBuffer source, int sourceIndex, int length) {
    check(offset, length);
    if (!writable) {
      throw new InvalidArgumentException(
          ErrorDetail.of("A region for reading was written to").at(handle.name(), offset));
    }
    handle.write(offset, source, sourceIndex, length);
  }

  @Override
  public void force(long offset, long length) {
    check(offset, length);
    handle.force();
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      handle.release();
    }
  }

  private void check(long offset, long length) {
    if (closed) {
      throw IoFailures.closed("A region was used after it had been closed", handle.name());
    }
    IoFailures.checkRange(handle.name(), offset, length, lengthBytes);
  }
}
