package dev.waymark.jmh;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import jnr.ffi.LibraryLoader;
import net.openhft.posix.PosixAPI;

/** What Java cannot ask of Linux. */
final class Os {
  private static final int READ_ONLY = 0;
  private static final int WRITE_CREATE = 0x1 | 0x40;
  private static final int DONT_NEED = 4;

  private Os() {}

  /** Of the C library. */
  public interface C {
    int posix_fadvise(int fd, long offset, long length, int advice);
  }

  private static final class Holder {
    static final C LIBRARY = LibraryLoader.create(C.class).load("c");
  }

  /** Makes a file whose blocks are allocated. */
  static void allocate(Path file, long lengthBytes) throws IOException {
    int fd = PosixAPI.posix().open(file.toString(), WRITE_CREATE, 0600);
    try {
      if (fd < 0 || PosixAPI.posix().fallocate(fd, 0, 0, lengthBytes) != 0) {
        throw new IOException(
            "cannot allocate " + lengthBytes + " bytes for " + file.getFileName());
      }
    } finally {
      PosixAPI.posix().close(fd);
    }
  }

  static void forceDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Forces files that nothing has mapped, and takes them out of the page cache. */
  static void dropFromCache(Path directory) throws IOException {
    for (Path file : files(directory)) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.force(true);
      }
      int fd = PosixAPI.posix().open(file.toString(), READ_ONLY, 0);
      try {
        if (fd < 0 || Holder.LIBRARY.posix_fadvise(fd, 0, 0, DONT_NEED) != 0) {
          throw new IOException("cannot take " + file.getFileName() + " out of the page cache");
        }
      } finally {
        PosixAPI.posix().close(fd);
      }
    }
  }

  static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }

  static long lengthBytes(Path directory) throws IOException {
    long bytes = 0;
    for (Path file : files(directory)) {
      bytes += Files.size(file);
    }
    return bytes;
  }

  /** Bytes that this process had the device read. */
  static long deviceReadBytes() throws IOException {
    return field(Path.of("/proc/self/io"), "read_bytes:");
  }

  /** Memory of this process that belongs to no file: heap and all else. */
  static long anonymousBytes() throws IOException {
    return field(Path.of("/proc/self/status"), "RssAnon:") << 10;
  }

  private static long field(Path file, String name) throws IOException {
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.substring(name.length()).replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("no " + name + " in " + file);
  }
}
