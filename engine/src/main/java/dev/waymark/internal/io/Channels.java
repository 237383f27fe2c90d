package dev.waymark.internal.io;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.UnsupportedFileSystemException;
import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Opens file channels as the store needs them: never through a symbolic link, created with mode
 * 0600 by the call that creates, and not closed by the interruption of a thread that uses them.
 *
 * <p>Channels, and not descriptors of {@code open(2)}, since only a channel can be closed safely
 * while other threads use it.
 */
final class Channels {
  static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final Set<OpenOption> CREATE_NEW =
      Set.of(
          StandardOpenOption.CREATE_NEW,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> CREATE =
      Set.of(
          StandardOpenOption.CREATE,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> READ =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);

  private Channels() {}

  static FileChannel createNew(Path path) throws IOException {
    return uninterruptible(FileChannel.open(path, CREATE_NEW, OWNER_ONLY_FILE));
  }

  static FileChannel openOrCreate(Path path) throws IOException {
    return uninterruptible(FileChannel.open(path, CREATE, OWNER_ONLY_FILE));
  }

  static FileChannel openReadWrite(Path path) throws IOException {
    return uninterruptible(FileChannel.open(path, READ_WRITE));
  }

  static FileChannel openRead(Path path) throws IOException {
    return uninterruptible(FileChannel.open(path, READ));
  }

  /** The number of the descriptor; it may be used only while the channel is sure to stay open. */
  static int descriptor(FileChannel channel) {
    try {
      return (int) Reflected.FD_VALUE.invoke(null, Reflected.FD.get(channel));
    } catch (ReflectiveOperationException e) {
      throw foreign(channel, e);
    }
  }

  private static FileChannel uninterruptible(FileChannel channel) throws IOException {
    try {
      Reflected.SET_UNINTERRUPTIBLE.invoke(channel);
      return channel;
    } catch (ReflectiveOperationException | RuntimeException e) {
      channel.close();
      throw foreign(channel, e);
    }
  }

  private static UnsupportedFileSystemException foreign(FileChannel channel, Exception cause) {
    return new UnsupportedFileSystemException(
        ErrorDetail.of("A file channel is not one of the operating system's files")
            .expected("a directory of the default file system")
            .found(channel.getClass().getName()),
        cause);
  }

  /** Looked up at the first open, after the flags that these need were checked. */
  private static final class Reflected {
    static final Method SET_UNINTERRUPTIBLE;
    static final Field FD;
    static final Method FD_VALUE;

    static {
      try {
        Class<?> channelClass = Class.forName("sun.nio.ch.FileChannelImpl");
        SET_UNINTERRUPTIBLE = channelClass.getMethod("setUninterruptible");
        SET_UNINTERRUPTIBLE.setAccessible(true);
        FD = channelClass.getDeclaredField("fd");
        FD.setAccessible(true);
        FD_VALUE =
            Class.forName("sun.nio.ch.IOUtil").getDeclaredMethod("fdVal", FileDescriptor.class);
        FD_VALUE.setAccessible(true);
      } catch (ReflectiveOperationException | RuntimeException e) {
        throw new ExceptionInInitializerError(e);
      }
    }
  }
}
