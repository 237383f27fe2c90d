package dev.waymark.formatpage;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The page that describes the format. Its diagrams, examples and vectors are code blocks whose info
 * string is {@code text} and a name. With {@code -Dwaymark.format.rewrite=true} a test puts into
 * them what it would have compared them with.
 */
final class FormatPage {
  private static final boolean REWRITE = Boolean.getBoolean("waymark.format.rewrite");
  private static final Path PATH = Path.of("..", "format-spec", "FORMAT.md");

  private FormatPage() {}

  /** A row of a table: where a field stands, how wide it is, its name. */
  record Row(String offset, String width, String name) {}

  static String text() {
    try {
      return Files.readString(PATH);
    } catch (IOException e) {
      throw new AssertionError("the page cannot be read", e);
    }
  }

  /** The content of a code block. */
  static String block(String name) {
    Matcher matcher = matcher(name, text());
    assertThat(matcher.find()).as("a block 'text %s' in FORMAT.md", name).isTrue();
    return matcher.group(1);
  }

  /** Compares a code block, or writes it. */
  static void check(String name, String expected) {
    String found = block(name);
    if (REWRITE && !found.equals(expected)) {
      String text = text();
      Matcher matcher = matcher(name, text);
      assertThat(matcher.find()).isTrue();
      try {
        Files.writeString(
            PATH, text.substring(0, matcher.start(1)) + expected + text.substring(matcher.end(1)));
      } catch (IOException e) {
        throw new AssertionError("the page cannot be written", e);
      }
      return;
    }
    assertThat(found).as("block 'text %s' of FORMAT.md", name).isEqualTo(expected);
  }

  /** The rows of the first table under a heading, without the table's own header. */
  static List<Row> table(String heading) {
    List<Row> rows = new ArrayList<>();
    boolean inside = false;
    for (String line : text().split("\n", -1)) {
      if (line.startsWith("#")) {
        if (inside) {
          break;
        }
        inside = line.equals(heading);
      } else if (inside && line.startsWith("|")) {
        String[] cells = line.split("\\|", -1);
        rows.add(new Row(cells[1].strip(), cells[2].strip(), cells[3].strip()));
      } else if (inside && !rows.isEmpty()) {
        break;
      }
    }
    assertThat(rows).as("a table under '%s' in FORMAT.md", heading).hasSizeGreaterThan(2);
    return rows.subList(2, rows.size());
  }

  private static Matcher matcher(String name, String text) {
    return Pattern.compile("```text " + Pattern.quote(name) + "\n(.*?)```", Pattern.DOTALL)
        .matcher(text);
  }
}
