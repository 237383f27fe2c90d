package dev.waymark.internal.io;

import dev.waymark.error.DiskFullException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Finds out what a directory's file system can do, by doing it to a small file that it removes. A
 * full disk is no answer; there everything is assumed, since each call has its own way out.
 */
final class FileSystemProbe {
  /** One name, so that a killed process leaves at most one such file. */
  static final String NAME = "probe.tmp";

  private FileSystemProbe() {}

  /**
   * Probes.
   *
   * @param mapping where no maps are wanted none is tried, which spares the mapping library's start
   */
  static FileSystemTraits probe(Path directory, Mapping mapping) throws IOException {
    boolean mapWanted = mapping != Mapping.POSITIONAL;
    Path path = directory.resolve(NAME);
    Files.deleteIfExists(path);
    FileHandle handle;
    try {
      handle = new FileHandle(NAME, Channels.createNew(path), true);
    } catch (IOException e) {
      if (Libc.meansFull(String.valueOf(e.getMessage()))) {
        return new FileSystemTraits(mapWanted, true, true);
      }
      throw e;
    }
    try {
      return new FileSystemTraits(
          mapWanted && canMap(handle, path), canAllocate(handle), canPunch(handle));
    } finally {
      handle.release();
      Files.deleteIfExists(path);
    }
  }

  private static boolean canMap(FileHandle handle, Path path) {
    try (ChronicleRegion region =
        ChronicleRegion.map(handle, path.toFile(), FileHandle.BLOCK_BYTES, true)) {
      return region.lengthBytes() > 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean canAllocate(FileHandle handle) {
    int errno = Libc.allocate(handle.descriptor(), 0, FileHandle.BLOCK_BYTES);
    return errno != Libc.ENOTSUP && errno != Libc.ENOSYS;
  }

  private static boolean canPunch(FileHandle handle) {
    try {
      return handle.punch(0, FileHandle.BLOCK_BYTES);
    } catch (DiskFullException e) {
      return true;
    }
  }
}
