package dev.waymark.sim;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StoreIoException;
import dev.waymark.internal.io.MappedRegion;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** A map of a file: reads and writes the file's own pages, and outlives its descriptor. */
final class SimulatedRegion implements MappedRegion {
  private final SimulatedDirectory directory;
  private final SimulatedDisk disk;
  private final String name;
  private final Inode inode;
  private final long length;
  private final boolean writable;
  private boolean closed;

  SimulatedRegion(
      SimulatedDirectory directory,
      SimulatedDisk disk,
      String name,
      Inode inode,
      long length,
      boolean writable) {
    this.directory = directory;
    this.disk = disk;
    this.name = name;
    this.inode = inode;
    this.length = length;
    this.writable = writable;
    disk.opened(this, inode);
  }

  @Override
  public long lengthBytes() {
    return length;
  }

  @Override
  public void get(long offset, MutableDirectBuffer target, int targetIndex, int bytes) {
    directory.reached(OperationKind.GET);
    synchronized (disk) {
      check(offset, bytes, false);
      disk.enter(OperationKind.GET, name, offset, bytes);
      checkMapped(offset, bytes);
      inode.get(offset, target, targetIndex, bytes);
    }
  }

  @Override
  public void put(long offset, DirectBuffer source, int sourceIndex, int bytes) {
    directory.reached(OperationKind.PUT);
    synchronized (disk) {
      check(offset, bytes, true);
      SimulatedDisk.Passage passage = disk.pass(OperationKind.PUT, name, offset, bytes);
      checkMapped(offset, bytes);
      checkAllocated(offset, bytes);
      int part = (int) passage.part(bytes);
      int done = inode.put(offset, source, sourceIndex, part, disk.freePages());
      disk.changed(inode);
      passage.end();
      if (done < bytes) {
        throw fault("no space for a page of a map", offset + done);
      }
    }
  }

  @Override
  public void force(long offset, long bytes) {
    directory.reached(OperationKind.REGION_FORCE);
    synchronized (disk) {
      check(offset, bytes, false);
      disk.observe();
      SimulatedDisk.Passage passage = disk.pass(OperationKind.REGION_FORCE, name, offset, bytes);
      if (passage.failure() == null) {
        inode.forceRange(offset, bytes);
      } else if (!disk.isPowerOff()) {
        inode.failRange(offset, bytes, disk.dropped());
      }
      passage.end();
    }
  }

  @Override
  public void close() {
    synchronized (disk) {
      closed = true;
      disk.closed(this, inode);
    }
  }

  @Override
  public String toString() {
    return "map of " + name;
  }

  private void check(long offset, long bytes, boolean forWriting) {
    disk.checkPower();
    if (closed) {
      throw new IllegalStateException("the map of " + name + " is closed");
    }
    if (forWriting && !writable) {
      throw new IllegalStateException("the map of " + name + " is for reading only");
    }
    if (offset < 0 || bytes < 0 || offset + bytes > length) {
      throw new IndexOutOfBoundsException(offset + "+" + bytes + " of " + length);
    }
  }

  /** A page wholly past the end of the file is a fault. */
  private void checkMapped(long offset, long bytes) {
    long end = -Math.floorDiv(-inode.lengthBytes(), (long) Page.SIZE_BYTES) * Page.SIZE_BYTES;
    if (bytes > 0 && offset + bytes > end) {
      throw fault("a page of a map is past the end of the file", Math.max(offset, end));
    }
  }

  private void checkAllocated(long offset, long bytes) {
    if (disk.settings().strictMaps() && !inode.isAllocated(offset, bytes)) {
      throw new AssertionError("put into a hole of " + name + " at " + offset + "+" + bytes);
    }
    if (offset + bytes > inode.lengthBytes()) {
      throw new AssertionError("put past the end of " + name + " would be lost");
    }
  }

  private StoreIoException fault(String what, long offset) {
    return new StoreIoException(ErrorDetail.of(what).at(name, offset));
  }
}
