package dev.waymark.formatpage;

import dev.waymark.internal.log.Frame;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/** Bytes of a file: sixteen a line, lines of zeros left out, a title before each frame. */
final class HexDump {
  private static final int LINE_BYTES = 16;
  private static final byte[] ZEROS = new byte[LINE_BYTES];

  private HexDump() {}

  /**
   * Dumps a file.
   *
   * @param grid frames start on multiples of this
   */
  static String of(byte[] file, int grid, int tag, Schema schema) {
    UnsafeBuffer buffer = new UnsafeBuffer(file);
    StringBuilder out = new StringBuilder();
    int frameEnd = 0;
    boolean skipped = false;
    for (int at = 0; at < file.length; ) {
      int lineEnd = Math.min(file.length, at + LINE_BYTES);
      if (at % grid == 0 && at >= frameEnd) {
        Frame.Check check = Frame.check(buffer, at, file.length - at, tag, file.length);
        if (check.isValid()) {
          out.append("-- ")
              .append(schema.nameOf(Frame.templateId(buffer, at)))
              .append(", ")
              .append(check.lengthBytes())
              .append(" bytes at ")
              .append(at)
              .append('\n');
          int unit = Math.min(grid, LINE_BYTES);
          frameEnd = Math.min(file.length, at + (check.lengthBytes() + unit - 1) / unit * unit);
          skipped = false;
        }
      }
      if (at < frameEnd) {
        lineEnd = Math.min(lineEnd, frameEnd);
      }
      byte[] line = Arrays.copyOfRange(file, at, lineEnd);
      if (at >= frameEnd && Arrays.equals(line, 0, line.length, ZEROS, 0, line.length)) {
        if (!skipped) {
          out.append("*\n");
          skipped = true;
        }
      } else {
        line(out, at, line);
        skipped = false;
      }
      at = lineEnd;
    }
    out.append("-- end at ").append(file.length).append('\n');
    return out.toString();
  }

  static String hex(byte[] bytes) {
    return java.util.HexFormat.of().formatHex(bytes);
  }

  private static void line(StringBuilder out, int at, byte[] line) {
    out.append("%08x ".formatted(at));
    for (byte b : line) {
      out.append(" %02x".formatted(b));
    }
    out.append("   ".repeat(LINE_BYTES - line.length)).append("  ");
    for (byte b : line) {
      out.append(b >= 0x20 && b < 0x7f && b != '`' ? (char) b : '.');
    }
    out.append('\n');
  }
}
