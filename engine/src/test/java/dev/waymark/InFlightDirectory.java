package dev.waymark;

import dev.waymark.internal.io.FileSystemTraits;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Counts the pages of segments that were put through maps and not yet forced. */
final class InFlightDirectory implements StoreDirectory {
  private static final int PAGE_BYTES = 4096;

  private final StoreDirectory directory;
  private final Map<String, Set<Long>> dirty = new ConcurrentHashMap<>();
  private long most;

  InFlightDirectory(StoreDirectory directory) {
    this.directory = directory;
  }

  /** The most that ever was in flight. */
  synchronized long mostBytes() {
    return most;
  }

  private synchronized void put(String name, long offset, int length) {
    Set<Long> pages = dirty.computeIfAbsent(name, n -> new HashSet<>());
    for (long page = offset / PAGE_BYTES; page * PAGE_BYTES < offset + length; page++) {
      pages.add(page);
    }
    long pagesInAll = dirty.values().stream().mapToLong(Set::size).sum();
    most = Math.max(most, pagesInAll * PAGE_BYTES);
  }

  private synchronized void forced(String name) {
    dirty.remove(name);
  }

  private StoreFile counted(StoreFile file) {
    return file.name().endsWith(".seg") ? new CountedFile(file) : file;
  }

  private final class CountedFile implements StoreFile {
    private final StoreFile file;

    CountedFile(StoreFile file) {
      this.file = file;
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public long lengthBytes() {
      return file.lengthBytes();
    }

    @Override
    public long allocatedBytes() {
      return file.allocatedBytes();
    }

    @Override
    public void allocate(long offset, long length) {
      file.allocate(offset, length);
    }

    @Override
    public void setLength(long length) {
      file.setLength(length);
    }

    @Override
    public boolean punch(long offset, long length) {
      return file.punch(offset, length);
    }

    @Override
    public void read(long offset, MutableDirectBuffer target, int targetIndex, int length) {
      file.read(offset, target, targetIndex, length);
    }

    @Override
    public void write(long offset, DirectBuffer source, int sourceIndex, int length) {
      file.write(offset, source, sourceIndex, length);
    }

    @Override
    public void force() {
      file.force();
      forced(name());
    }

    @Override
    public MappedRegion map(long length, boolean writable) {
      return new CountedRegion(name(), file.map(length, writable));
    }

    @Override
    public void close() {
      file.close();
    }
  }

  private final class CountedRegion implements MappedRegion {
    private final String name;
    private final MappedRegion region;

    CountedRegion(String name, MappedRegion region) {
      this.name = name;
      this.region = region;
    }

    @Override
    public long lengthBytes() {
      return region.lengthBytes();
    }

    @Override
    public void get(long offset, MutableDirectBuffer target, int targetIndex, int length) {
      region.get(offset, target, targetIndex, length);
    }

    @Override
    public void put(long offset, DirectBuffer source, int sourceIndex, int length) {
      region.put(offset, source, sourceIndex, length);
      InFlightDirectory.this.put(name, offset, length);
    }

    @Override
    public void force(long offset, long length) {
      region.force(offset, length);
    }

    @Override
    public void close() {
      region.close();
    }
  }

  @Override
  public String label() {
    return directory.label();
  }

  @Override
  public List<String> list() {
    return directory.list();
  }

  @Override
  public boolean exists(String name) {
    return directory.exists(name);
  }

  @Override
  public StoreFile create(String name) {
    return counted(directory.create(name));
  }

  @Override
  public StoreFile open(String name) {
    return counted(directory.open(name));
  }

  @Override
  public StoreFile openReadOnly(String name) {
    return counted(directory.openReadOnly(name));
  }

  @Override
  public void rename(String from, String to) {
    directory.rename(from, to);
  }

  @Override
  public void delete(String name) {
    directory.delete(name);
    forced(name);
  }

  @Override
  public void force() {
    directory.force();
  }

  @Override
  public long usableBytes() {
    return directory.usableBytes();
  }

  @Override
  public FileSystemTraits traits() {
    return directory.traits();
  }

  @Override
  public void lock() {
    directory.lock();
  }

  @Override
  public boolean isLocked() {
    return directory.isLocked();
  }

  @Override
  public long allocatedBytes() {
    return directory.allocatedBytes();
  }

  @Override
  public void close() {
    directory.close();
  }
}
