package dev.waymark.tools;

import java.io.IOException;
import java.io.Writer;

/** A pipe that nobody reads from any more. */
public final class GoneReader extends Writer {
  @Override
  public void write(char[] chars, int offset, int length) throws IOException {
    throw new IOException("Broken pipe");
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
