package dev.waymark.sim;

import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/** Buffers and contents for tests of the simulator. */
final class Bytes {
  private Bytes() {}

  /** That many bytes of that value. */
  static UnsafeBuffer of(int value, int length) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return new UnsafeBuffer(bytes);
  }

  /** Which values occur, in order of first occurrence, as text: {@code "1,0"}. */
  static String values(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    boolean[] seen = new boolean[256];
    for (byte value : bytes) {
      if (!seen[value & 0xff]) {
        seen[value & 0xff] = true;
        text.append(text.length() == 0 ? "" : ",").append(value);
      }
    }
    return text.toString();
  }
}
