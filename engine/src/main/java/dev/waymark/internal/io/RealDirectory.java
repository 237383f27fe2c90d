package dev.waymark.internal.io;

import dev.waymark.error.ClosedException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.StoreIoException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A directory of the operating system.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Opened for reading only, it changes nothing and never opens the lock file.
 *   <li>Below the directory nothing is reached through a symbolic link, and only regular files are
 *       opened. The directory itself may be named by a link, which is resolved once, at open.
 *   <li>The directory's own descriptor stays open, for forcing and for counting blocks. Its inode
 *       can thus not be given to another directory while the lock's claim names it.
 * </ul>
 */
public final class RealDirectory implements StoreDirectory {
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OWNER_ONLY_FILE =
      PosixFilePermissions.fromString("rw-------");

  private final Path path;
  private final boolean writable;
  private final Mapping mapping;
  private final FileChannel channel;
  private WriterLock lock;
  private FileSystemTraits traits;
  private volatile boolean closed;

  private RealDirectory(Path path, boolean writable, Mapping mapping, FileChannel channel) {
    this.path = path;
    this.writable = writable;
    this.mapping = mapping;
    this.channel = channel;
  }

  /**
   * Opens a directory for writing; takes no lock yet.
   *
   * @param create whether to make it, and its missing parents, with mode 0700, durably
   * @throws NotAStoreException if it is missing, or no directory
   */
  public static RealDirectory openForWriting(Path path, boolean create) {
    return openForWriting(path, create, Mapping.MAPPED_READS);
  }

  /** Opens a directory for writing, as above, with a choice of how its files are mapped. */
  public static RealDirectory openForWriting(Path path, boolean create, Mapping mapping) {
    JvmFlags.check();
    checkFileSystem(path);
    try {
      if (create) {
        makeDurably(path.toAbsolutePath().normalize());
      }
      return open(path, true, mapping);
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Opening the directory " + path + " failed"));
    }
  }

  /**
   * Opens a directory for reading only.
   *
   * @throws NotAStoreException if it is missing, or no directory
   */
  public static RealDirectory openReadOnly(Path path) {
    return openReadOnly(path, Mapping.MAPPED);
  }

  /** Opens a directory for reading only, with a choice of how its files are mapped. */
  public static RealDirectory openReadOnly(Path path, Mapping mapping) {
    JvmFlags.check();
    checkFileSystem(path);
    try {
      return open(path, false, mapping);
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Opening the directory " + path + " failed"));
    }
  }

  @Override
  public String label() {
    return path.toString();
  }

  @Override
  public List<String> list() {
    checkOpen();
    List<String> names = new ArrayList<>();
    try {
      addRegularFiles(path, "", names);
      if (hasQuarantine()) {
        addRegularFiles(path.resolve(StoreNames.QUARANTINE), StoreNames.QUARANTINE_PREFIX, names);
      }
    } catch (DirectoryIteratorException e) {
      throw IoFailures.of(e.getCause(), ErrorDetail.of("Listing the directory failed"));
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Listing the directory failed"));
    }
    names.sort(null);
    return names;
  }

  @Override
  public boolean exists(String name) {
    checkOpen();
    Path file = path.resolve(name.equals(StoreNames.LOCK) ? name : StoreNames.check(name));
    try {
      return isRegular(file);
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Looking for it failed").in(name));
    }
  }

  @Override
  public boolean isDirectory(String name) {
    checkOpen();
    return Files.isDirectory(path.resolve(StoreNames.check(name)), LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public StoreFile create(String name) {
    Path file = writablePath(name);
    try {
      if (name.startsWith(StoreNames.QUARANTINE_PREFIX) && !hasQuarantine()) {
        Files.createDirectory(file.getParent(), Channels.OWNER_ONLY_DIRECTORY);
      }
      return opened(name, file, Channels.createNew(file), true);
    } catch (IOException e) {
      throw IoFailures.of(
          e, ErrorDetail.of("Creating failed").in(name).expected("no file of that name"));
    }
  }

  @Override
  public StoreFile open(String name) {
    Path file = writablePath(name);
    checkRegular(name, file);
    try {
      return opened(name, file, Channels.openReadWrite(file), true);
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Opening failed").in(name));
    }
  }

  @Override
  public StoreFile openReadOnly(String name) {
    checkOpen();
    Path file = path.resolve(StoreNames.check(name));
    checkRegular(name, file);
    try {
      return opened(name, file, Channels.openRead(file), false);
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Opening failed").in(name));
    }
  }

  @Override
  public void rename(String from, String to) {
    Path source = writablePath(from);
    Path target = writablePath(to);
    checkRegular(from, source);
    try {
      if (to.startsWith(StoreNames.QUARANTINE_PREFIX) && !hasQuarantine()) {
        Files.createDirectory(target.getParent(), Channels.OWNER_ONLY_DIRECTORY);
      }
      Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Renaming to " + to + " failed").in(from));
    }
  }

  @Override
  public void delete(String name) {
    Path file = writablePath(name);
    checkRegular(name, file);
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Removing failed").in(name));
    }
  }

  @Override
  public void force() {
    checkWritable();
    try {
      if (hasQuarantine()) {
        forceDirectory(path.resolve(StoreNames.QUARANTINE));
      }
      channel.force(true);
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Making the directory durable failed"));
    }
  }

  @Override
  public long usableBytes() {
    checkOpen();
    return path.toFile().getUsableSpace();
  }

  /**
   * Probes at the first call, so that a second writer, which the lock turns away, changes nothing.
   * A directory for reading is not probed: it is taken to map, and falls back where it does not.
   */
  @Override
  public synchronized FileSystemTraits traits() {
    checkOpen();
    if (traits == null) {
      traits =
          writable ? probe() : new FileSystemTraits(mapping != Mapping.POSITIONAL, false, false);
    }
    return traits;
  }

  /** Also closes to others what came open to them, out of a backup for one. */
  @Override
  public synchronized void lock() {
    checkWritable();
    if (lock != null) {
      throw WriterLock.lockedByThisStore();
    }
    lock = WriterLock.acquire(path, channel);
    closeToOthers();
  }

  @Override
  public synchronized boolean isLocked() {
    return lock != null && lock.isHeld();
  }

  @Override
  public long allocatedBytes() {
    long total = 0;
    for (String name : list()) {
      total += allocatedBytes(name);
    }
    return total;
  }

  /** Asks without opening, so the lock's file and files of others can be counted too. */
  @Override
  public long allocatedBytes(String name) {
    checkOpen();
    long allocated = Libc.allocatedBytes(Channels.descriptor(channel), name);
    return allocated >= 0 ? allocated : FileHandle.roundUpToBlocks(lengthBytes(name));
  }

  @Override
  public long lengthBytes(String name) {
    checkOpen();
    try {
      return Files.size(path.resolve(name));
    } catch (NoSuchFileException e) {
      return 0; // removed since it was listed
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Asking for the length failed").in(name));
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try (channel) {
      if (lock != null) {
        lock.close();
        lock = null;
      }
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Closing the directory failed"));
    }
  }

  private static RealDirectory open(Path path, boolean writable, Mapping mapping)
      throws IOException {
    if (!isDirectory(path)) {
      throw new NotAStoreException(
          ErrorDetail.of("The store's directory cannot be opened")
              .expected("a directory at " + path)
              .found(Files.exists(path) ? "something else" : "nothing")
              .remedy("name the directory of a store"));
    }
    Path real = path.toRealPath();
    if (!Files.isReadable(real) || !Files.isExecutable(real)) {
      throw new AccessDeniedException(path.toString());
    }
    return new RealDirectory(real, writable, mapping, Channels.openRead(real));
  }

  /** Tells what is not there from what may not be looked at. */
  private static boolean isDirectory(Path path) throws IOException {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class).isDirectory();
    } catch (AccessDeniedException e) {
      throw e;
    } catch (IOException e) {
      return false;
    }
  }

  private static void checkFileSystem(Path path) {
    if (path.getFileSystem() != FileSystems.getDefault()) {
      throw new InvalidArgumentException(
          ErrorDetail.of("The store's directory cannot be opened")
              .expected("a path of the default file system")
              .found(path.getFileSystem().getClass().getSimpleName()));
    }
  }

  private static void makeDurably(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent == null || Files.exists(path)) {
      return;
    }
    makeDurably(parent);
    try {
      Files.createDirectory(path, Channels.OWNER_ONLY_DIRECTORY);
    } catch (IOException e) {
      // Two that open the same new store at once: the lock decides between them.
      if (!Files.isDirectory(path)) {
        throw e;
      }
    }
    forceDirectory(parent);
  }

  private static void forceDirectory(Path directory) throws IOException {
    try (FileChannel opened = Channels.openRead(directory)) {
      opened.force(true);
    }
  }

  /**
   * Before a store is made in it: others' directories are never taken over. Without CURRENT, only
   * what a store begins with, or leaves, may be there.
   *
   * @throws NotAStoreException if anything else is
   */
  public void requireNobodyElses() {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      if (attributes(path.resolve(StoreNames.CURRENT)) != null) {
        return;
      }
      for (Path entry : entries) {
        if (!StoreNames.isOurs(entry.getFileName().toString())) {
          throw new NotAStoreException(
              ErrorDetail.of("The directory holds something else than a store")
                  .expected("a store, or an empty directory, at " + path)
                  .found("other files")
                  .remedy("name a directory of its own for the store"));
        }
      }
    } catch (DirectoryIteratorException e) {
      throw IoFailures.of(e.getCause(), ErrorDetail.of("Listing the directory failed"));
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Listing the directory failed"));
    }
  }

  private void closeToOthers() {
    closeToOthers(path, OWNER_ONLY);
    for (String name : list()) {
      String plain = name.substring(name.lastIndexOf('/') + 1);
      if (StoreNames.isOurs(plain)) {
        closeToOthers(path.resolve(name), OWNER_ONLY_FILE);
      }
    }
  }

  private static void closeToOthers(Path file, Set<PosixFilePermission> mode) {
    try {
      Set<PosixFilePermission> now = Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS);
      if (!mode.containsAll(now)) {
        Files.setPosixFilePermissions(file, mode);
      }
    } catch (IOException | UnsupportedOperationException e) {
      // Somebody else's, as mount points are: what the store makes is closed to others all the
      // same.
      return;
    }
  }

  private FileSystemTraits probe() {
    try {
      return FileSystemProbe.probe(path, mapping);
    } catch (IOException e) {
      throw IoFailures.of(
          e, ErrorDetail.of("Trying out the file system failed").in(FileSystemProbe.NAME));
    }
  }

  private RealFile opened(String name, Path file, FileChannel opened, boolean forWriting) {
    return new RealFile(new FileHandle(name, opened, forWriting), file.toFile(), mapping);
  }

  private static void addRegularFiles(Path directory, String prefix, List<String> names)
      throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        if (isRegular(entry)) {
          names.add(prefix + entry.getFileName());
        }
      }
    }
  }

  private static boolean isRegular(Path file) throws IOException {
    BasicFileAttributes attributes = attributes(file);
    return attributes != null && attributes.isRegularFile();
  }

  private boolean hasQuarantine() throws IOException {
    BasicFileAttributes attributes = attributes(path.resolve(StoreNames.QUARANTINE));
    return attributes != null && attributes.isDirectory();
  }

  /** Null where there is no such entry; one that cannot be looked at is not one that is missing. */
  private static BasicFileAttributes attributes(Path file) throws IOException {
    try {
      return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Refuses links, directories and pipes; opening a pipe would not even return. */
  private void checkRegular(String name, Path file) {
    boolean there;
    try {
      if (isRegular(file) && (!name.startsWith(StoreNames.QUARANTINE_PREFIX) || hasQuarantine())) {
        return;
      }
      there = attributes(file) != null;
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Looking at it failed").in(name));
    }
    throw new StoreIoException(
        ErrorDetail.of("A file cannot be used")
            .in(name)
            .expected("a regular file")
            .found(there ? "something else" : "no such file")
            .remedy(there ? "remove what is in its place" : "look again at what names it"));
  }

  private Path writablePath(String name) {
    checkWritable();
    return path.resolve(StoreNames.check(name));
  }

  private void checkWritable() {
    checkOpen();
    if (!writable) {
      throw new InvalidArgumentException(
          ErrorDetail.of("The directory is open for reading only")
              .remedy("open the store for writing"));
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new ClosedException(ErrorDetail.of("The directory was used after it had been closed"));
    }
  }
}
