package dev.waymark.tools;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;

/**
 * Standard output, which remembers why it could not be written: those who print are told no more
 * than that. A reader that went away is no failure; a disk that is full is one.
 */
final class StandardOutput extends FilterOutputStream {
  /** How systems say it; Java has no exception of its own for it. */
  private static final String READER_GONE = "broken pipe";

  private IOException failure;

  StandardOutput(OutputStream out) {
    super(out);
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
    String why = failure == null ? "" : String.valueOf(failure.getMessage());
    return why.toLowerCase(Locale.ROOT).contains(READER_GONE) ? "" : why;
  }
}
