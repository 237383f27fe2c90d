package dev.waymark.internal.io;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StoreLockedException;
import dev.waymark.error.UnsupportedFileSystemException;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;

/**
 * The one writer's lock of a directory: an operating system's lock on its file {@code LOCK}, and
 * another on the directory itself, which holds also where somebody removed that file.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>The file is open at most once in a process, since closing any second descriptor of it would
 *       drop the lock without a word. A claim on the directory is staked in the JVM's system
 *       properties first, which copies of this class under other class loaders see too. The claim
 *       is by the directory's device and inode, so that links and bind mounts do not get around it.
 *   <li>The directory's lock belongs to the descriptor that stays open as long as the directory
 *       does, and is taken first. A file system without such locks is left to the file's.
 *   <li>The file is never removed and, before the lock is held, never changed.
 *   <li>Its content is the holder's process id, for the message that another process shows, which
 *       reads it through the descriptor by which it tried. No decision rests on it.
 * </ul>
 */
final class WriterLock implements AutoCloseable {
  private static final String CLAIM_PREFIX = "dev.waymark.writer.";
  private static final long PATIENCE_MILLIS = 800;
  private static final int HOLDER_MAX_BYTES = 32;

  /**
   * Descriptors that may be a second one of a lock file that somebody else in this JVM holds:
   * closed with the process and no sooner.
   */
  private static final Queue<FileChannel> NEVER_CLOSED = new ConcurrentLinkedQueue<>();

  private final String claim;
  private final FileChannel channel;
  private final FileLock lock;

  private WriterLock(String claim, FileChannel channel, FileLock lock) {
    this.claim = claim;
    this.channel = channel;
    this.lock = lock;
  }

  /** How the operating system's lock is asked for. */
  interface Locking {
    /** Returns the lock, or null where another process holds it. */
    FileLock tryLock(FileChannel channel) throws IOException;
  }

  static WaymarkException lockedByThisStore() {
    return locked("this process, by this very store");
  }

  /** Takes it with the system's calls; {@code opened} is the directory's own descriptor. */
  static WriterLock acquire(Path directory, FileChannel opened) {
    return acquire(directory, FileChannel::tryLock, () -> Libc.lock(Channels.descriptor(opened)));
  }

  static WriterLock acquire(Path directory, Locking locking, IntSupplier lockDirectory) {
    String claim = CLAIM_PREFIX + identity(directory);
    String holder = Long.toString(ProcessHandle.current().pid());
    if (System.getProperties().putIfAbsent(claim, holder) != null) {
      throw locked("this process, by another open store");
    }
    boolean done = false;
    try {
      if (lockDirectory.getAsInt() == Libc.EWOULDBLOCK) {
        throw locked("process " + holder(directory));
      }
      WriterLock acquired = acquireClaimed(directory, claim, locking);
      done = true;
      acquired.writeHolder(holder);
      return acquired;
    } finally {
      if (!done) {
        System.getProperties().remove(claim);
      }
    }
  }

  boolean isHeld() {
    return lock.isValid();
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Giving the lock back failed").in(StoreNames.LOCK));
    } finally {
      System.getProperties().remove(claim);
    }
  }

  private static WriterLock acquireClaimed(Path directory, String claim, Locking locking) {
    FileChannel channel = open(directory);
    boolean keepOpen = false;
    try {
      FileLock lock = ask(channel, locking);
      if (lock == null) {
        throw locked("process " + holder(channel));
      }
      keepOpen = true;
      return new WriterLock(claim, channel, lock);
    } catch (OverlappingFileLockException e) {
      keepOpen = true;
      NEVER_CLOSED.add(channel);
      throw locked("this process, by other means than a store");
    } finally {
      if (!keepOpen) {
        closeQuietly(channel);
      }
    }
  }

  private static FileChannel open(Path directory) {
    try {
      return Channels.openOrCreate(directory.resolve(StoreNames.LOCK));
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Opening failed").in(StoreNames.LOCK));
    }
  }

  /** Asks on a thread of its own: where a lock server does not answer, the call never returns. */
  private static FileLock ask(FileChannel channel, Locking locking) {
    FutureTask<FileLock> task = new FutureTask<>(() -> locking.tryLock(channel));
    Thread thread = new Thread(task, "waymark-lock");
    thread.setDaemon(true);
    thread.start();
    boolean interrupted = false;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    try {
      while (true) {
        try {
          return task.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (TimeoutException e) {
      // The channel gets closed, which gives back a lock that is granted later.
      throw unsupported("no answer within " + PATIENCE_MILLIS + " ms", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException io) {
        throw unsupported(String.valueOf(io.getMessage()), io);
      }
      if (e.getCause() instanceof OverlappingFileLockException overlapping) {
        throw overlapping;
      }
      throw unsupported(String.valueOf(e.getCause()), e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static String identity(Path directory) {
    try {
      Object key = Files.readAttributes(directory, BasicFileAttributes.class).fileKey();
      return key == null ? directory.toRealPath().toString() : key.toString();
    } catch (IOException e) {
      throw IoFailures.of(e, ErrorDetail.of("Identifying the directory failed"));
    }
  }

  private void writeHolder(String holder) {
    try {
      channel.truncate(0);
      channel.write(ByteBuffer.wrap((holder + "\n").getBytes(StandardCharsets.US_ASCII)), 0);
    } catch (IOException e) {
      // On a full disk the lock holds just as well without it.
      return;
    }
  }

  /** Who holds it, where the directory is locked: by its claim, that is another process. */
  private static String holder(Path directory) {
    try (FileChannel channel = Channels.openRead(directory.resolve(StoreNames.LOCK))) {
      return holder(channel);
    } catch (IOException e) {
      return "of unknown id";
    }
  }

  private static String holder(FileChannel channel) {
    ByteBuffer bytes = ByteBuffer.allocate(HOLDER_MAX_BYTES);
    try {
      channel.read(bytes, 0);
    } catch (IOException e) {
      return "of unknown id";
    }
    String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII).trim();
    return text.matches("[0-9]{1,20}") ? text : "of unknown id";
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing was written through it, and the failure under way says more.
      return;
    }
  }

  private static WaymarkException locked(String holder) {
    return new StoreLockedException(
        ErrorDetail.of("The store is open for writing already")
            .in(StoreNames.LOCK)
            .expected("no other writer")
            .found(holder)
            .remedy("close that one; segtool inspect and verify work beside it"));
  }

  private static UnsupportedFileSystemException unsupported(String found, Exception cause) {
    return new UnsupportedFileSystemException(
        ErrorDetail.of("The file system cannot lock")
            .in(StoreNames.LOCK)
            .expected("an operating system's lock")
            .found(found)
            .remedy("move the store to a local file system"),
        cause);
  }
}
