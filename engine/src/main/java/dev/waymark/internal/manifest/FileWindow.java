package dev.waymark.internal.manifest;

import dev.waymark.internal.io.StoreFile;
import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A stretch of a file in private memory, which moves forward with whoever reads it. It grows beyond
 * its usual size for a longer frame, and shrinks after.
 */
final class FileWindow {
  private static final int USUAL_BYTES = 128 << 10;
  private static final byte[] ZEROS = new byte[4_096];

  private final StoreFile file;
  private final long endBytes;
  private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
  private long start;
  private int filled;

  FileWindow(StoreFile file, long endBytes) {
    this.file = file;
    this.endBytes = endBytes;
    buffer.wrap(new byte[(int) Math.min(USUAL_BYTES, endBytes)]);
  }

  /** Where the file's content ends for this window. */
  long endBytes() {
    return endBytes;
  }

  DirectBuffer buffer() {
    return buffer;
  }

  /**
   * Sees to it that a range, which must end within the file, is in the buffer.
   *
   * @return the index where it begins; good until the next call
   */
  int load(long offset, int length) {
    if (offset < start || offset + length > start + filled) {
      int wanted = (int) Math.min(Math.max(USUAL_BYTES, length), endBytes - offset);
      if (wanted > buffer.capacity() || buffer.capacity() > Math.max(USUAL_BYTES, wanted)) {
        buffer.wrap(new byte[wanted]);
      }
      filled = 0;
      file.read(offset, buffer, 0, wanted);
      start = offset;
      filled = wanted;
    }
    return (int) (offset - start);
  }

  /** How many bytes from an index on are zero, of a range that was loaded. */
  int zeroBytes(int index, int length) {
    byte[] bytes = buffer.byteArray();
    int done = 0;
    while (done < length) {
      int step = Math.min(length - done, ZEROS.length);
      int from = index + done;
      int differs = Arrays.mismatch(bytes, from, from + step, ZEROS, 0, step);
      if (differs >= 0) {
        return done + differs;
      }
      done += step;
    }
    return length;
  }
}
