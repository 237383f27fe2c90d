package dev.waymark.layout;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads the JSON of a layout, refusing whatever it does not know. */
final class LayoutJson {
  private LayoutJson() {}

  static Layout parse(JsonNode root) {
    known(root, "layout", Set.of("block_tokens", "tensors"));
    JsonNode list = field(root, "tensors");
    if (!list.isArray()) {
      throw invalid("tensors", "an array");
    }
    List<TensorSpec> tensors = new ArrayList<>();
    for (JsonNode node : list) {
      tensors.add(tensor(node));
    }
    return Layout.of(integer(root, "block_tokens"), tensors);
  }

  private static TensorSpec tensor(JsonNode node) {
    String growth = text(node, "growth");
    Growth parsed;
    switch (growth) {
      case "rows" -> {
        known(node, "tensor", Set.of("name", "dtype", "growth", "shape", "tokens_per_row"));
        parsed = new Growth.Rows(integer(node, "tokens_per_row"));
      }
      case "window" -> {
        known(node, "tensor", Set.of("name", "dtype", "growth", "shape", "window", "sink"));
        parsed = new Growth.Window(integer(node, "window"), integer(node, "sink"));
      }
      case "fixed" -> {
        known(node, "tensor", Set.of("name", "dtype", "growth", "shape"));
        parsed = new Growth.Fixed();
      }
      default -> throw invalid("growth", "rows, window or fixed");
    }
    JsonNode shape = field(node, "shape");
    if (!shape.isArray()) {
      throw invalid("shape", "an array of whole numbers");
    }
    List<Long> dims = new ArrayList<>();
    for (JsonNode dim : shape) {
      if (!dim.isIntegralNumber() || !dim.canConvertToLong()) {
        throw invalid("shape", "an array of whole numbers");
      }
      dims.add(dim.longValue());
    }
    return new TensorSpec(text(node, "name"), dtype(text(node, "dtype")), parsed, dims);
  }

  private static DType dtype(String name) {
    for (DType dtype : DType.values()) {
      if (dtype.name().equals(name)) {
        return dtype;
      }
    }
    throw invalid("dtype", "one of " + List.of(DType.values()));
  }

  private static void known(JsonNode node, String what, Set<String> names) {
    if (!node.isObject()) {
      throw invalid(what, "an object");
    }
    StrictJson.known(node, what, names);
  }

  private static JsonNode field(JsonNode node, String name) {
    JsonNode value = node.get(name);
    if (value == null) {
      throw invalid(name, "the field to be there");
    }
    return value;
  }

  private static int integer(JsonNode node, String name) {
    JsonNode value = field(node, name);
    if (!value.isIntegralNumber() || !value.canConvertToInt()) {
      throw invalid(name, "a whole number of 31 bits");
    }
    return value.intValue();
  }

  private static String text(JsonNode node, String name) {
    JsonNode value = field(node, name);
    if (!value.isTextual()) {
      throw invalid(name, "a string");
    }
    return value.textValue();
  }

  private static InvalidSettingException invalid(String field, String expected) {
    return new InvalidSettingException(
        ErrorDetail.of("field '" + field + "' of a layout is not valid").expected(expected));
  }
}
