package dev.waymark.internal.io;

import dev.waymark.error.StoreIoException;
import java.util.List;

/**
 * The directory that holds a store: files by name, and one level of subdirectory ({@code
 * quarantine/x}). All failures are typed: {@code DiskFullException}, {@code StoreIoException},
 * {@code UnsupportedFileSystemException}.
 *
 * <p>Creations, renames and removals are durable only after {@link #force()}.
 */
public interface StoreDirectory extends AutoCloseable {
  /** How the directory is called in messages: its path, or a label. */
  String label();

  /** Whether a directory stands where a file of that name would: it counts as missing. */
  default boolean isDirectory(String name) {
    return false;
  }

  /** Names of all regular files, those of the quarantine as {@code quarantine/name}; sorted. */
  List<String> list();

  /** Whether a file of that name exists. */
  boolean exists(String name);

  /**
   * Creates a file for reading and writing, mode 0600, empty; fails if it exists. Parent
   * subdirectory is made (0700) if missing.
   */
  StoreFile create(String name);

  /** Opens an existing file for reading and writing. */
  StoreFile open(String name);

  /** Opens an existing file for reading only; takes no lock. */
  StoreFile openReadOnly(String name);

  /** Renames over whatever has the new name, atomically for observers. */
  void rename(String from, String to);

  /** Removes a file; its blocks come back once nobody has it open or mapped. */
  void delete(String name);

  /** Makes all creations, renames and removals up to now durable. */
  void force();

  /** Bytes that the file system says are free for this user, of the directory's file system. */
  long usableBytes();

  /** What the file system can do, probed once, when the directory is opened for writing. */
  FileSystemTraits traits();

  /**
   * Takes the one writer's lock (file {@code LOCK}), within a bounded time.
   *
   * @throws dev.waymark.error.StoreLockedException if another process or this one holds it
   */
  void lock();

  /** Whether this object holds the writer's lock. */
  boolean isLocked();

  /** Bytes allocated by every file of the directory, by the file system's own count. */
  long allocatedBytes();

  /**
   * Bytes allocated by one file of {@link #list()}, by the file system's own count; 0 where it is
   * not there any more. Never opens the lock's file.
   */
  default long allocatedBytes(String name) {
    if (name.equals(StoreNames.LOCK) || !exists(name)) {
      return 0;
    }
    try (StoreFile file = openReadOnly(name)) {
      return file.allocatedBytes();
    } catch (StoreIoException e) {
      if (exists(name)) {
        throw e;
      }
      return 0;
    }
  }

  /**
   * Length of one file of {@link #list()}; 0 where it is not there any more. Never opens the lock's
   * file.
   */
  default long lengthBytes(String name) {
    if (name.equals(StoreNames.LOCK) || !exists(name)) {
      return 0;
    }
    try (StoreFile file = openReadOnly(name)) {
      return file.lengthBytes();
    } catch (StoreIoException e) {
      if (exists(name)) {
        throw e;
      }
      return 0;
    }
  }

  /** Gives the lock back. Files that are still open stay open. */
  @Override
  void close();
}
