package dev.waymark.formatpage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.formatpage.FormatPage.Row;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The page's tables and diagrams say what the schema says. */
class FormatTablesTest {
  private static final Schema SCHEMA = Schema.load();

  static List<Schema.Composite> composites() {
    return SCHEMA.composites();
  }

  static List<Schema.Message> messages() {
    return SCHEMA.messages();
  }

  @ParameterizedTest
  @MethodSource("composites")
  void composite(Schema.Composite composite) {
    List<Row> expected = new ArrayList<>();
    for (Schema.Field field : composite.fields()) {
      expected.add(
          new Row(
              Integer.toString(field.offset()),
              field.width() == 0 ? "n" : Integer.toString(field.width()),
              field.name()));
    }
    assertThat(FormatPage.table("### " + composite.name())).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("messages")
  void message(Schema.Message message) throws ReflectiveOperationException {
    List<Row> expected = new ArrayList<>();
    message.fields().forEach(field -> expected.add(row("", field, "")));
    for (Schema.Group group : message.groups()) {
      expected.add(new Row("next", "4 + n × " + group.entryBytes(), group.name()));
      group.fields().forEach(field -> expected.add(row("+", field, group.name() + ".")));
    }
    message.texts().forEach(text -> expected.add(new Row("next", "4 + n", text)));
    String heading = "### " + message.name() + " (" + message.id() + ")";
    assertThat(FormatPage.table(heading)).isEqualTo(expected);
    FormatPage.check("diagram-" + message.name(), Diagram.of(message));
    assertThat(message.blockLength())
        .as("length of the fixed part by the generated code")
        .isEqualTo(
            Class.forName("dev.waymark.internal.wire." + message.name() + "Decoder")
                .getField("BLOCK_LENGTH")
                .getInt(null));
  }

  @Test
  void frameHeader() {
    Schema.Composite header =
        SCHEMA.composites().stream()
            .filter(composite -> composite.name().equals("frameHeader"))
            .findFirst()
            .orElseThrow();
    FormatPage.check("diagram-frameHeader", Diagram.of(header));
  }

  private static Row row(String offsetPrefix, Schema.Field field, String namePrefix) {
    return new Row(
        offsetPrefix + field.offset(), Integer.toString(field.width()), namePrefix + field.name());
  }
}
