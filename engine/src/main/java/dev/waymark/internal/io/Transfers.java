package dev.waymark.internal.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Repeats positional transfers, which may be short, until all bytes went or the file ended. */
final class Transfers {
  /**
   * At most so much at a time for memory on the heap: the JDK copies it through a direct buffer as
   * large as the request and keeps one for each thread.
   */
  static final int HEAP_STEP_BYTES = 1 << 20;

  private static final int MAX_STALLS = 100;

  private Transfers() {}

  /** One positional read or write; returns the bytes moved, or -1 at the end of the file. */
  interface Call {
    int transfer(ByteBuffer bytes, long offset) throws IOException;
  }

  /** Returns how many bytes went: fewer than there were only where the file ended. */
  static int all(Call call, ByteBuffer bytes, long offset) throws IOException {
    int start = bytes.position();
    int end = bytes.limit();
    int stalls = 0;
    while (bytes.position() < end) {
      int step = bytes.isDirect() ? end - bytes.position() : HEAP_STEP_BYTES;
      bytes.limit((int) Math.min(end, (long) bytes.position() + step));
      int moved = call.transfer(bytes, offset + bytes.position() - start);
      bytes.limit(end);
      if (moved < 0) {
        break;
      }
      stalls = moved == 0 ? stalls + 1 : 0;
      if (stalls == MAX_STALLS) {
        throw new IOException("the device took no bytes in " + MAX_STALLS + " calls");
      }
    }
    return bytes.position() - start;
  }
}
