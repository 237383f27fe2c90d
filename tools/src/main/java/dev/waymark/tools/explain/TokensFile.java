package dev.waymark.tools.explain;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Token ids from a file: decimal numbers, whatever stands between them of white space, commas and
 * brackets. Messages say where something is wrong, never what stands there.
 */
final class TokensFile {
  /** The longest prompts have a few million tokens; a wrong file must not fill the heap. */
  private static final long MOST_BYTES = 64L << 20;

  private TokensFile() {}

  static int[] read(Path file) throws IOException {
    if (Files.size(file) > MOST_BYTES) {
      throw wrong(file, "at most " + MOST_BYTES + " bytes", Files.size(file) + " bytes");
    }
    byte[] text = Files.readAllBytes(file);
    int[] tokens = new int[64];
    int count = 0;
    int at = 0;
    while (at < text.length) {
      if (" \t\r\n,[]".indexOf(text[at]) >= 0) {
        at++;
        continue;
      }
      int start = at;
      long value = 0;
      while (at < text.length && text[at] >= '0' && text[at] <= '9' && value <= 0xFFFFFFFFL) {
        value = 10 * value + (text[at++] - '0');
      }
      if (at == start) {
        throw wrong(file, "token ids", "another character at byte " + at);
      }
      if (value > 0xFFFFFFFFL) {
        throw wrong(file, "token ids below 4294967296", "a larger number at byte " + start);
      }
      if (count == tokens.length) {
        tokens = Arrays.copyOf(tokens, 2 * count);
      }
      tokens[count++] = (int) value;
    }
    return Arrays.copyOf(tokens, count);
  }

  private static InvalidSettingException wrong(Path file, String expected, String found) {
    return new InvalidSettingException(
        ErrorDetail.of("a file of token ids cannot be used")
            .in(String.valueOf(file.getFileName()))
            .expected(expected)
            .found(found)
            .remedy("write them as numbers, such as [17, 4, 90]"));
  }
}
