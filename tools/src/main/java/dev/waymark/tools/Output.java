package dev.waymark.tools;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.Locale;

/**
 * Where a verb writes its answer. Whoever reads it may stop at any time, as {@code head} does: then
 * the verb ends, and that is no failure.
 */
public final class Output implements AutoCloseable {
  /** Raised when a field changes its meaning or goes; new fields do not raise it. */
  private static final int OUTPUT_VERSION = 1;

  /**
   * Whether the reader is still there is asked once for so many characters: for few at first, since
   * a line may take long and the reader be content with ten, and for more each time.
   */
  private static final int FIRST_CHARS = 1_024;

  private static final int CHUNK_CHARS = 8_192;

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final PrintWriter writer;
  private final StringBuilder pending = new StringBuilder();
  private int chunkChars = FIRST_CHARS;

  /** Writes there. */
  public Output(PrintWriter writer) {
    this.writer = writer;
  }

  /** Nobody reads any more. */
  static final class ReaderGone extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ReaderGone() {
      super(null, null, false, false);
    }
  }

  /** One line. */
  public void line(String format, Object... values) {
    pending.append(String.format(Locale.ROOT, format, values).stripTrailing()).append('\n');
    if (pending.length() >= chunkChars) {
      flush();
    }
  }

  /** An empty line. */
  public void line() {
    line("");
  }

  private void flush() {
    writer.append(pending);
    pending.setLength(0);
    chunkChars = Math.min(2 * chunkChars, CHUNK_CHARS);
    if (writer.checkError()) {
      throw new ReaderGone();
    }
  }

  /** Writes what is left. */
  @Override
  public void close() {
    if (!pending.isEmpty()) {
      flush();
    }
  }

  /**
   * An object that is too large to be held: the envelope's fields are written, and its end is the
   * caller's to write.
   */
  public JsonGenerator stream(String command) throws IOException {
    JsonGenerator json = MAPPER.createGenerator(new Pending()).useDefaultPrettyPrinter();
    json.writeStartObject();
    json.writeNumberField("output_version", OUTPUT_VERSION);
    json.writeStringField("command", command);
    return json;
  }

  /** What is written to it is pending output. */
  private final class Pending extends Writer {
    @Override
    public void write(char[] chars, int offset, int length) {
      pending.append(chars, offset, length);
      if (pending.length() >= chunkChars) {
        Output.this.flush();
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      pending.append('\n');
    }
  }

  /** The envelope that every verb's JSON comes in. */
  public static ObjectNode envelope(String command) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("output_version", OUTPUT_VERSION);
    root.put("command", command);
    return root;
  }

  /** Says in an answer that it is a failure, and which. */
  public static void error(
      ObjectNode root, String code, String message, String remedy, int exitCode) {
    error(root, code, "", message, remedy, exitCode);
  }

  /**
   * The same for a failure of which a code has several.
   *
   * @param fault what it is called; empty where the code says it all
   */
  public static void error(
      ObjectNode root, String code, String fault, String message, String remedy, int exitCode) {
    ObjectNode error = root.putObject("error").put("code", code);
    if (!fault.isEmpty()) {
      error.put("fault", fault);
    }
    error.put("message", message).put("remedy", remedy).put("exit_code", exitCode);
  }

  /** One object, for programs. */
  public void json(ObjectNode root) {
    line("%s", root.toPrettyString());
  }

  /** How long ago something was, as people say it. */
  public static String age(long thenMillis, long nowMillis) {
    Duration age = Duration.ofMillis(Math.max(0, nowMillis - thenMillis));
    if (age.toMinutes() < 1) {
      return age.toSeconds() + " s";
    }
    if (age.toHours() < 1) {
      return age.toMinutes() + " min";
    }
    return age.toDays() < 1 ? age.toHours() + " h" : age.toDays() + " d";
  }

  /** A number as people read it. */
  public static String count(long value) {
    String digits = Long.toString(value);
    StringBuilder text = new StringBuilder(digits);
    // By hand, as there may be millions of lines.
    for (int i = digits.length() - 3; i > (value < 0 ? 1 : 0); i -= 3) {
      text.insert(i, ',');
    }
    return text.toString();
  }

  /** A number of bytes as people read it. */
  public static String bytes(long bytes) {
    String[] units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (Math.abs(bytes) < 1_024) {
      return bytes + " B";
    }
    double value = bytes;
    int unit = -1;
    while (Math.abs(value) >= 1_023.95 && unit < units.length - 1) {
      value /= 1_024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
  }
}
