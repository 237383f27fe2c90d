package dev.waymark.tools;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Standard output, which remembers why it could not be written: those who print are told no more
 * than that. A reader that went away is no failure; a disk that is full is one.
 */
final class StandardOutput extends FilterOutputStream {
  private final boolean readerMayGo;
  private IOException failure;

  /**
   * Writes there.
   *
   * @param readerMayGo whether it is a pipe or the like, which fails only where its reader is gone
   */
  StandardOutput(OutputStream out, boolean readerMayGo) {
    super(out);
    this.readerMayGo = readerMayGo;
  }

  /** Whether this process's own is such, or cannot be told: what systems say is in any language. */
  static boolean readerMayGo() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return target.startsWith("pipe:") || target.startsWith("socket:");
    } catch (IOException | RuntimeException e) {
      return true;
    }
  }

  @Override
  public synchronized void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = failure == null ? e : failure;
      throw e;
    }
  }

  /** Why the answer is not whole, or empty where it is, or where nobody reads it any more. */
  synchronized String lostWhy() {
    return failure == null || readerMayGo ? "" : String.valueOf(failure.getMessage());
  }
}
