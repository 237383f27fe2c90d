package dev.waymark.tools.move;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Token ids from a file: a JSON array, or numbers with spaces, commas or ends of line between. */
final class TokenIds {
  private static final int MOST_BYTES = 64 << 20;

  private TokenIds() {}

  static int[] read(Path path) throws IOException {
    String text =
        new String(PlainFiles.readSmall(path, MOST_BYTES), StandardCharsets.UTF_8).strip();
    String list = text.startsWith("[") ? text : "[" + text.replaceAll("[\\s,]+", ",") + "]";
    try {
      return of(new ObjectMapper().readTree(list));
    } catch (JsonProcessingException e) {
      // The parser's own message shows some of the text.
      return null;
    }
  }

  /** The ids of a JSON array of numbers of 32 bits; null if it is none. */
  static int[] of(JsonNode list) {
    if (!list.isArray()) {
      return null;
    }
    int[] ids = new int[list.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonNode id = list.get(i);
      if (!id.isIntegralNumber() || !id.canConvertToInt()) {
        return null;
      }
      ids[i] = id.intValue();
    }
    return ids;
  }
}
