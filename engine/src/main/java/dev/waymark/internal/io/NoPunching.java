package dev.waymark.internal.io;

import java.util.List;

/** A directory that is told not to punch, whatever its file system can. */
public final class NoPunching implements StoreDirectory {
  private final StoreDirectory directory;

  /** Hides that a directory can punch. */
  public NoPunching(StoreDirectory directory) {
    this.directory = directory;
  }

  @Override
  public FileSystemTraits traits() {
    FileSystemTraits traits = directory.traits();
    return new FileSystemTraits(traits.canMap(), traits.canAllocate(), false);
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
  public boolean isDirectory(String name) {
    return directory.isDirectory(name);
  }

  @Override
  public StoreFile create(String name) {
    return directory.create(name);
  }

  @Override
  public StoreFile open(String name) {
    return directory.open(name);
  }

  @Override
  public StoreFile openReadOnly(String name) {
    return directory.openReadOnly(name);
  }

  @Override
  public void rename(String from, String to) {
    directory.rename(from, to);
  }

  @Override
  public void delete(String name) {
    directory.delete(name);
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
  public long allocatedBytes(String name) {
    return directory.allocatedBytes(name);
  }

  @Override
  public long lengthBytes(String name) {
    return directory.lengthBytes(name);
  }

  @Override
  public void close() {
    directory.close();
  }
}
