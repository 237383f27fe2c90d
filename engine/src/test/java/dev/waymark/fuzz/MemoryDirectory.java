package dev.waymark.fuzz;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StoreIoException;
import dev.waymark.internal.io.FileSystemTraits;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Files in memory, for reading alone, and quick. A read that does not lie in its file is the
 * reader's mistake, whatever the file says, and is an {@link AssertionError}.
 */
public final class MemoryDirectory implements StoreDirectory {
  private final Map<String, byte[]> files;

  /** A directory of these files; what is changed in their bytes is seen by the next read. */
  public MemoryDirectory(Map<String, byte[]> files) {
    this.files = new TreeMap<>(files);
  }

  /** A region over bytes. */
  static MappedRegion region(byte[] bytes) {
    return new Region(bytes);
  }

  @Override
  public String label() {
    return "memory";
  }

  @Override
  public List<String> list() {
    return new ArrayList<>(files.keySet());
  }

  @Override
  public boolean exists(String name) {
    return files.containsKey(name);
  }

  @Override
  public StoreFile openReadOnly(String name) {
    byte[] bytes = files.get(name);
    if (bytes == null) {
      throw new StoreIoException(ErrorDetail.of("no such file").in(name));
    }
    return new MemoryFile(name, bytes);
  }

  @Override
  public long allocatedBytes() {
    return files.values().stream().mapToLong(bytes -> bytes.length).sum();
  }

  @Override
  public FileSystemTraits traits() {
    return new FileSystemTraits(false, false, false);
  }

  @Override
  public boolean isLocked() {
    return false;
  }

  @Override
  public void close() {}

  @Override
  public StoreFile create(String name) {
    throw readOnly();
  }

  @Override
  public StoreFile open(String name) {
    throw readOnly();
  }

  @Override
  public void rename(String from, String to) {
    throw readOnly();
  }

  @Override
  public void delete(String name) {
    throw readOnly();
  }

  @Override
  public void force() {
    throw readOnly();
  }

  @Override
  public long usableBytes() {
    throw readOnly();
  }

  @Override
  public void lock() {
    throw readOnly();
  }

  private static AssertionError readOnly() {
    return new AssertionError("a reader asked for what only a writer needs");
  }

  private static void copy(
      byte[] bytes, long offset, MutableDirectBuffer target, int targetIndex, int length) {
    if (offset < 0 || length < 0 || offset > bytes.length - length) {
      throw new AssertionError(
          length + " bytes were read at " + offset + " of a file of " + bytes.length);
    }
    target.putBytes(targetIndex, bytes, (int) offset, length);
  }

  private record MemoryFile(String name, byte[] bytes) implements StoreFile {
    @Override
    public long lengthBytes() {
      return bytes.length;
    }

    @Override
    public long allocatedBytes() {
      return bytes.length;
    }

    @Override
    public void read(long offset, MutableDirectBuffer target, int targetIndex, int length) {
      copy(bytes, offset, target, targetIndex, length);
    }

    @Override
    public MappedRegion map(long length, boolean writable) {
      if (writable || length != bytes.length) {
        throw new AssertionError("a map of " + length + " of " + bytes.length + " bytes");
      }
      return region(bytes);
    }

    @Override
    public void allocate(long offset, long length) {
      throw readOnly();
    }

    @Override
    public void setLength(long length) {
      throw readOnly();
    }

    @Override
    public boolean punch(long offset, long length) {
      throw readOnly();
    }

    @Override
    public void write(long offset, DirectBuffer source, int sourceIndex, int length) {
      throw readOnly();
    }

    @Override
    public void force() {
      throw readOnly();
    }

    @Override
    public void close() {}
  }

  private record Region(byte[] bytes) implements MappedRegion {
    @Override
    public long lengthBytes() {
      return bytes.length;
    }

    @Override
    public void get(long offset, MutableDirectBuffer target, int targetIndex, int length) {
      copy(bytes, offset, target, targetIndex, length);
    }

    @Override
    public void put(long offset, DirectBuffer source, int sourceIndex, int length) {
      throw readOnly();
    }

    @Override
    public void force(long offset, long length) {
      throw readOnly();
    }

    @Override
    public void close() {}
  }
}
