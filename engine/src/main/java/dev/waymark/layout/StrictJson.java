package dev.waymark.layout;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import java.util.Iterator;
import java.util.Set;

/**
 * JSON of which there is one reading only: a field that stands twice, or anything after the value,
 * would be read by one program in this way and by another in that.
 */
final class StrictJson {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private StrictJson() {}

  /**
   * Reads an object.
   *
   * @param what what the text should be, for messages
   * @throws InvalidSettingException if it is no object
   */
  static JsonNode object(String text, String what) {
    try {
      JsonNode root = MAPPER.readTree(text);
      if (root.isObject()) {
        return root;
      }
      throw invalid(what, "a JSON object", root.getNodeType());
    } catch (JsonProcessingException e) {
      // The parser's own message shows some of the text.
      throw invalid(what, "a JSON object", e.getClass().getSimpleName());
    }
  }

  /** Refuses fields of an object that are not among these. */
  static void known(JsonNode node, String what, Set<String> names) {
    for (Iterator<String> fields = node.fieldNames(); fields.hasNext(); ) {
      if (!names.contains(fields.next())) {
        throw invalid(what, "no other fields than " + names.stream().sorted().toList(), "others");
      }
    }
  }

  private static InvalidSettingException invalid(String what, Object expected, Object found) {
    return new InvalidSettingException(
        ErrorDetail.of(what + " is not valid").expected(expected).found(found));
  }
}
