package dev.waymark.formatpage;

import java.util.List;

/** Fields drawn four bytes a line; one that takes whole lines gets one band for all of them. */
final class Diagram {
  private static final int LINE_BYTES = 4;
  private static final int BYTE_CHARS = 12;
  private static final String RULE =
      "        " + ("+" + "-".repeat(BYTE_CHARS - 1)).repeat(LINE_BYTES) + "+\n";

  private final StringBuilder out = new StringBuilder();

  private Diagram() {}

  static String of(Schema.Message message) {
    Diagram diagram = new Diagram();
    diagram.out.append(RULE);
    diagram.fields(message.fields());
    for (Schema.Group group : message.groups()) {
      diagram.band("next", group.name() + ": 4 + n x " + group.entryBytes() + " bytes", LINE_BYTES);
      diagram.out.append("\n        an entry of ").append(group.name()).append(":\n").append(RULE);
      diagram.fields(group.fields());
    }
    for (String text : message.texts()) {
      diagram.band("next", text + ": 4 + n bytes", LINE_BYTES);
    }
    return diagram.out.toString();
  }

  static String of(Schema.Composite composite) {
    Diagram diagram = new Diagram();
    diagram.out.append(RULE);
    diagram.fields(composite.fields());
    return diagram.out.toString();
  }

  private void fields(List<Schema.Field> fields) {
    int i = 0;
    while (i < fields.size()) {
      Schema.Field field = fields.get(i);
      if (field.width() >= LINE_BYTES) {
        String width = field.width() == LINE_BYTES ? "" : ", " + field.width() + " bytes";
        band(Integer.toString(field.offset()), field.name() + width, LINE_BYTES);
        i++;
        continue;
      }
      StringBuilder line = new StringBuilder(label(Integer.toString(field.offset())));
      int filled = 0;
      while (i < fields.size()
          && fields.get(i).width() < LINE_BYTES
          && filled + fields.get(i).width() <= LINE_BYTES) {
        line.append(cell(fields.get(i).name(), fields.get(i).width()));
        filled += fields.get(i).width();
        i++;
      }
      out.append(line).append("|\n").append(RULE);
    }
  }

  private void band(String offset, String name, int bytes) {
    out.append(label(offset)).append(cell(name, bytes)).append("|\n").append(RULE);
  }

  private static String label(String offset) {
    return "%7s ".formatted(offset);
  }

  private static String cell(String name, int bytes) {
    int room = bytes * BYTE_CHARS - 1;
    if (name.length() + 1 > room) {
      throw new AssertionError("no room for " + name);
    }
    return "| " + name + " ".repeat(room - name.length() - 1);
  }
}
