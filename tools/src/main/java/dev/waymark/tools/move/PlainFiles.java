package dev.waymark.tools.move;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Opens files that are files, and follows no links: names come from whoever made the folder. */
final class PlainFiles {
  private PlainFiles() {}

  /**
   * Opens a file for reading.
   *
   * @throws BadImportException if it is a link, or no plain file
   */
  static FileChannel open(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new NoSuchFileException(path.toString());
    }
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      throw notPlain(path);
    }
    return FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  }

  static BadImportException notPlain(Path path) {
    return new BadImportException(
        ImportFault.NOT_A_PLAIN_FILE,
        shown(path),
        "a plain file",
        Files.isSymbolicLink(path) ? "a link" : "something else",
        "give the file itself");
  }

  /** Fills an array from a place of a file. */
  static void read(FileChannel channel, long at, byte[] target, Path path) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(target);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, at + buffer.position()) < 0) {
        throw FileStamp.changed(path, null);
      }
    }
  }

  /** Reads a small text, such as a mapping. */
  static byte[] readSmall(Path path, int mostBytes) throws IOException {
    try (FileChannel channel = open(path)) {
      if (channel.size() > mostBytes) {
        throw new BadImportException(
            ImportFault.TOO_LARGE,
            shown(path),
            "at most " + mostBytes + " bytes",
            channel.size(),
            "check the file");
      }
      byte[] bytes = new byte[(int) channel.size()];
      read(channel, 0, bytes, path);
      return bytes;
    }
  }

  /** The last name of a path, fit for a line on a terminal. */
  static String shown(Path path) {
    Path name = path.getFileName();
    return SafetensorsHeader.shown(name == null ? path.toString() : name.toString());
  }
}
