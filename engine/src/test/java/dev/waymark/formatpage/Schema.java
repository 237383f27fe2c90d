package dev.waymark.formatpage;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** Offsets and widths as they follow from the schema, by its rules and not by generated code. */
final class Schema {
  private static final String FILE = "/dev/waymark/format/waymark.xml";
  private static final int HEADER_BYTES = 24;

  private final Map<String, Integer> widths = new LinkedHashMap<>();
  private final List<Composite> composites = new ArrayList<>();
  private final List<Message> messages = new ArrayList<>();

  /** A named stretch of bytes. */
  record Field(String name, int offset, int width) {}

  /** A type made of others. */
  record Composite(String name, List<Field> fields) {}

  /** A repeating group. */
  record Group(String name, int entryBytes, List<Field> fields) {}

  /**
   * A message.
   *
   * @param fields offsets are from the first byte of the frame
   */
  record Message(
      String name,
      int id,
      int blockLength,
      List<Field> fields,
      List<Group> groups,
      List<String> texts) {}

  private Schema(Element root) {
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
      widths.put("uint" + 8 * bytes, bytes);
      widths.put("int" + 8 * bytes, bytes);
    }
    for (Element composite : children(first(root, "types"), "composite")) {
      List<Field> fields = new ArrayList<>();
      int width = fields(composite, "type", "primitiveType", 0, fields);
      widths.put(composite.getAttribute("name"), width);
      composites.add(new Composite(composite.getAttribute("name"), fields));
    }
    for (Element message : children(root, "sbe:message")) {
      List<Field> fields = new ArrayList<>();
      int end = fields(message, "field", "type", HEADER_BYTES, fields);
      List<Group> groups = new ArrayList<>();
      for (Element group : children(message, "group")) {
        List<Field> entry = new ArrayList<>();
        int entryBytes = fields(group, "field", "type", 0, entry);
        groups.add(new Group(group.getAttribute("name"), entryBytes, entry));
      }
      List<String> texts = new ArrayList<>();
      children(message, "data").forEach(data -> texts.add(data.getAttribute("name")));
      messages.add(
          new Message(
              message.getAttribute("name"),
              Integer.parseInt(message.getAttribute("id")),
              end - HEADER_BYTES,
              fields,
              groups,
              texts));
    }
  }

  static Schema load() {
    try (InputStream in = Schema.class.getResourceAsStream(FILE)) {
      return new Schema(
          DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in).getDocumentElement());
    } catch (Exception e) {
      throw new AssertionError("the schema cannot be read", e);
    }
  }

  List<Composite> composites() {
    return composites;
  }

  List<Message> messages() {
    return messages;
  }

  String nameOf(int templateId) {
    return messages.stream()
        .filter(message -> message.id() == templateId)
        .map(Message::name)
        .findFirst()
        .orElseThrow();
  }

  private int fields(Element parent, String tag, String type, int from, List<Field> into) {
    int at = from;
    for (Element field : children(parent, tag)) {
      if (field.hasAttribute("offset") || field.hasAttribute("presence")) {
        throw new AssertionError("this reader knows no offset and no presence");
      }
      int width =
          "0".equals(field.getAttribute("length")) ? 0 : widths.get(field.getAttribute(type));
      into.add(new Field(field.getAttribute("name"), at, width));
      at += width;
    }
    return at;
  }

  private static Element first(Element parent, String tag) {
    return children(parent, tag).get(0);
  }

  private static List<Element> children(Element parent, String tag) {
    List<Element> list = new ArrayList<>();
    for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element element && element.getTagName().equals(tag)) {
        list.add(element);
      }
    }
    return list;
  }
}
