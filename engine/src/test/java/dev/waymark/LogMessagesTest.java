package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the store logs is written down, message by message, since operators look for it. */
class LogMessagesTest {
  /** A call of the logger, or a step of the background's whose failure is logged. */
  private static final Pattern MESSAGE =
      Pattern.compile("(?:LOG\\.[a-z]+|new Step)\\(\\s*\"([^\"{:]+)");

  private static final Pattern ROW = Pattern.compile("(?m)^\\| [A-Z]+ \\| `([^`{:]+)");

  @Test
  void everyMessageIsInThePage() throws IOException {
    TreeSet<String> logged = new TreeSet<>();
    try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
      sources.filter(file -> file.toString().endsWith(".java")).forEach(f -> add(f, logged));
    }
    TreeSet<String> written = new TreeSet<>();
    Matcher rows = ROW.matcher(Files.readString(Path.of("../docs/operations.md")));
    while (rows.find()) {
      written.add(rows.group(1).strip());
    }
    assertThat(logged).hasSizeGreaterThan(8);
    assertThat(written).isEqualTo(logged);
  }

  private static void add(Path source, TreeSet<String> logged) {
    try {
      Matcher messages = MESSAGE.matcher(Files.readString(source));
      while (messages.find()) {
        logged.add(messages.group(1).strip());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
