package dev.waymark.tools.move;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;

/**
 * What tells whether a file is still the one that was found to be right. A writer that changes it
 * within one tick of the file system's clock, and leaves its length, is not seen; nor is one who
 * puts another file in its place while it is opened, and the first back.
 *
 * @param key of the file, where the file system has one: another file of that name has another
 */
record FileStamp(Path path, long lengthBytes, FileTime modified, Object key) {
  static FileStamp of(Path path) throws IOException {
    BasicFileAttributes file =
        Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    return new FileStamp(path, file.size(), file.lastModifiedTime(), file.fileKey());
  }

  /**
   * Opens the file that was looked at.
   *
   * @throws BadImportException if another is there, or comes there meanwhile
   */
  FileChannel open() throws IOException {
    requireUnchanged();
    FileChannel channel = PlainFiles.open(path);
    try {
      requireUnchanged();
      return channel;
    } catch (IOException | RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }

  /**
   * Looks at it again.
   *
   * @throws BadImportException if it is another
   */
  void requireUnchanged() throws IOException {
    try {
      if (of(path).equals(this)) {
        return;
      }
    } catch (NoSuchFileException e) {
      throw changed(path, e);
    }
    throw changed(path, null);
  }

  /** What to throw where it shows that a file is not what it was. */
  static BadImportException changed(Path path, Throwable cause) {
    BadImportException changed =
        new BadImportException(
            ImportFault.FILE_CHANGED,
            PlainFiles.shown(path),
            "the file that was checked",
            "another length, time or file",
            "wait until nothing writes to it, and import it again");
    if (cause != null) {
      changed.addSuppressed(cause);
    }
    return changed;
  }
}
