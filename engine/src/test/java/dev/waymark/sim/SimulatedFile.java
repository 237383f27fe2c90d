package dev.waymark.sim;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.DiskFullException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.UnsupportedFileSystemException;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreFile;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One descriptor of a file on a {@link SimulatedDisk}. Keeps the file, whatever its name becomes.
 */
final class SimulatedFile implements StoreFile {
  private final SimulatedDirectory directory;
  private final SimulatedDisk disk;
  private final String name;
  private final Inode inode;
  private final boolean writable;
  private boolean closed;

  SimulatedFile(
      SimulatedDirectory directory,
      SimulatedDisk disk,
      String name,
      Inode inode,
      boolean writable) {
    this.directory = directory;
    this.disk = disk;
    this.name = name;
    this.inode = inode;
    this.writable = writable;
    disk.opened(this, inode);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public long lengthBytes() {
    synchronized (disk) {
      check(false);
      return inode.lengthBytes();
    }
  }

  @Override
  public long allocatedBytes() {
    synchronized (disk) {
      check(false);
      return inode.allocatedBytes();
    }
  }

  @Override
  public void allocate(long offset, long length) {
    directory.reached(OperationKind.ALLOCATE);
    synchronized (disk) {
      check(true);
      checkRange(offset, length);
      SimulatedDisk.Passage passage = disk.pass(OperationKind.ALLOCATE, name, offset, length);
      // A call that fails leaves the length as it was; one that is killed may be half done.
      long part = passage.failure() == null || disk.isPowerOff() ? passage.part(length) : 0;
      boolean done = part == 0 || inode.allocate(offset, part, disk.freePages());
      disk.changed(inode);
      passage.end();
      if (!done) {
        throw full(offset);
      }
    }
  }

  @Override
  public void setLength(long length) {
    directory.reached(OperationKind.SET_LENGTH);
    synchronized (disk) {
      check(true);
      checkRange(0, length);
      disk.enter(OperationKind.SET_LENGTH, name, 0, length);
      inode.setLength(length);
      disk.changed(inode);
    }
  }

  @Override
  public boolean punch(long offset, long length) {
    directory.reached(OperationKind.PUNCH);
    synchronized (disk) {
      check(true);
      checkRange(offset, length);
      if (offset % Page.SIZE_BYTES != 0 || length % Page.SIZE_BYTES != 0) {
        throw new IllegalArgumentException("not whole pages: " + offset + "+" + length);
      }
      disk.enter(OperationKind.PUNCH, name, offset, length);
      if (!disk.settings().traits().canPunch()) {
        return false;
      }
      inode.punch(offset, length);
      disk.changed(inode);
      return true;
    }
  }

  @Override
  public void read(long offset, MutableDirectBuffer target, int targetIndex, int length) {
    directory.reached(OperationKind.READ);
    synchronized (disk) {
      check(false);
      checkRange(offset, length);
      disk.enter(OperationKind.READ, name, offset, length);
      if (offset + length > inode.lengthBytes()) {
        throw new CorruptionException(
            ErrorDetail.of("the file ends too early")
                .at(name, offset)
                .expected(offset + length)
                .found(inode.lengthBytes()));
      }
      inode.get(offset, target, targetIndex, length);
    }
  }

  @Override
  public void write(long offset, DirectBuffer source, int sourceIndex, int length) {
    directory.reached(OperationKind.WRITE);
    synchronized (disk) {
      check(true);
      checkRange(offset, length);
      SimulatedDisk.Passage passage = disk.pass(OperationKind.WRITE, name, offset, length);
      int part = (int) passage.part(length);
      int done = inode.put(offset, source, sourceIndex, part, disk.freePages());
      disk.changed(inode);
      passage.end();
      if (done < length) {
        throw full(offset + done);
      }
    }
  }

  @Override
  public void force() {
    directory.reached(OperationKind.FORCE);
    synchronized (disk) {
      check(false);
      disk.observe();
      SimulatedDisk.Passage passage = disk.pass(OperationKind.FORCE, name, 0, 0);
      if (passage.failure() == null) {
        inode.force();
      } else if (!disk.isPowerOff()) {
        inode.failForce(disk.dropped());
      }
      passage.end();
    }
  }

  @Override
  public MappedRegion map(long length, boolean forWriting) {
    directory.reached(OperationKind.MAP);
    synchronized (disk) {
      check(forWriting);
      checkRange(0, length);
      disk.enter(OperationKind.MAP, name, 0, length);
      if (!disk.settings().traits().canMap()) {
        throw new UnsupportedFileSystemException(
            ErrorDetail.of("files cannot be mapped here").in(name));
      }
      return new SimulatedRegion(directory, disk, name, inode, length, forWriting);
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
    return "file " + name;
  }

  private void check(boolean forWriting) {
    disk.checkPower();
    if (closed) {
      throw new IllegalStateException(name + " is closed");
    }
    if (forWriting && !writable) {
      throw new IllegalStateException(name + " is open for reading only");
    }
  }

  private static void checkRange(long offset, long length) {
    if (offset < 0 || length < 0) {
      throw new IllegalArgumentException("negative range: " + offset + "+" + length);
    }
  }

  private DiskFullException full(long offset) {
    return new DiskFullException(ErrorDetail.of("no space left").at(name, offset));
  }
}
