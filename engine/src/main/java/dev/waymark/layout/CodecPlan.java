package dev.waymark.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which codec a namespace stores each tensor with: by growth, and by name where that differs. A
 * tensor that a codec cannot take is stored as it is, which the record says.
 */
public record CodecPlan(Codec rows, Codec window, Codec fixed, Map<String, Codec> byTensor) {
  /** Everything as it is. */
  public static final CodecPlan RAW = new CodecPlan(Codec.RAW, Codec.RAW, Codec.RAW, Map.of());

  /** Everything lossless and smaller where that is possible. */
  public static final CodecPlan PLANES =
      new CodecPlan(Codec.PLANES, Codec.PLANES, Codec.PLANES, Map.of());

  /**
   * Copies the map.
   *
   * @param rows codec of tensors that grow by rows
   * @param window codec of tensors that grow as a window
   * @param fixed codec of fixed tensors
   * @param byTensor codecs of single tensors, by name
   */
  public CodecPlan {
    Objects.requireNonNull(rows, "rows");
    Objects.requireNonNull(window, "window");
    Objects.requireNonNull(fixed, "fixed");
    byTensor = Map.copyOf(byTensor);
  }

  /** {@return the one JSON text of this plan; equal plans give equal texts} */
  public String toJson() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("rows", rows.name());
    root.put("window", window.name());
    root.put("fixed", fixed.name());
    ObjectNode named = root.putObject("tensors");
    new TreeMap<>(byTensor).forEach((name, codec) -> named.put(name, codec.name()));
    return root.toString();
  }

  /**
   * Reads a plan from its JSON.
   *
   * @param text the JSON text
   * @return the plan
   * @throws InvalidSettingException if it is not one
   */
  public static CodecPlan ofJson(String text) {
    JsonNode root = StrictJson.object(text, "a codec plan");
    StrictJson.known(root, "a codec plan", Set.of("rows", "window", "fixed", "tensors"));
    JsonNode tensors = root.path("tensors");
    if (!tensors.isObject()) {
      throw invalid();
    }
    Map<String, Codec> named = new TreeMap<>();
    for (Map.Entry<String, JsonNode> entry : tensors.properties()) {
      named.put(entry.getKey(), codec(entry.getValue()));
    }
    return new CodecPlan(
        codec(root.path("rows")), codec(root.path("window")), codec(root.path("fixed")), named);
  }

  private static Codec codec(JsonNode name) {
    for (Codec codec : Codec.values()) {
      if (name.isTextual() && name.textValue().equals(codec.name())) {
        return codec;
      }
    }
    throw invalid();
  }

  private static InvalidSettingException invalid() {
    return new InvalidSettingException(
        ErrorDetail.of("a codec plan is not valid")
            .expected("rows, window, fixed and tensors, each naming a codec"));
  }

  /**
   * {@return a copy with another codec for fixed tensors}
   *
   * @param codec the codec that is used instead
   */
  public CodecPlan withFixed(Codec codec) {
    return new CodecPlan(rows, window, codec, byTensor);
  }

  /**
   * {@return a copy with another codec for rows and windows}
   *
   * @param codec the codec that is used instead
   */
  public CodecPlan withRows(Codec codec) {
    return new CodecPlan(codec, codec, fixed, byTensor);
  }

  /**
   * {@return a copy with another codec for one tensor}
   *
   * @param name the tensor's name
   * @param codec the codec that is used instead
   */
  public CodecPlan withTensor(String name, Codec codec) {
    Map<String, Codec> map = new TreeMap<>(byTensor);
    map.put(name, codec);
    return new CodecPlan(rows, window, fixed, map);
  }

  /**
   * {@return the codec of a tensor}
   *
   * @param spec the tensor
   */
  public Codec of(TensorSpec spec) {
    Codec named = byTensor.get(spec.name());
    if (named != null) {
      return named;
    }
    if (spec.growth() instanceof Growth.Rows) {
      return rows;
    }
    return spec.isFixed() ? fixed : window;
  }
}
