package dev.waymark.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Whatever decides, next to the layout, whether one state may stand for another: the weights'
 * digest, tokenizer, RoPE and quantisation parameters, parallel layout, engine, and what else the
 * caller names. Any difference is another namespace. Values are shown by tools: put no secret here.
 */
public record ModelIdentity(SortedMap<String, String> properties) {
  /**
   * Copies and checks the properties.
   *
   * @param properties values by name
   */
  public ModelIdentity {
    SortedMap<String, String> copy = new TreeMap<>(properties);
    copy.forEach(
        (name, value) -> {
          CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();
          if (name.isEmpty()
              || name.length() > 255
              || value.length() > 4_096
              || !utf8.canEncode(name)
              || !utf8.canEncode(value)) {
            throw new InvalidSettingException(
                ErrorDetail.of("a property of the model's identity is out of range")
                    .expected(
                        "a name of 1 to 255 and a value of at most 4,096 characters, all of them"
                            + " Unicode")
                    .found(name.length() + " and " + value.length()));
          }
        });
    properties = java.util.Collections.unmodifiableSortedMap(copy);
  }

  /**
   * {@return an identity of these properties}
   *
   * @param properties values by name
   */
  public static ModelIdentity of(Map<String, String> properties) {
    return new ModelIdentity(new TreeMap<>(properties));
  }

  /** {@return the one JSON text of this identity: an object of strings, in order of name} */
  public String toJson() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    properties.forEach(root::put);
    return root.toString();
  }

  /**
   * Reads an identity from its JSON.
   *
   * @param text the JSON text
   * @return the identity
   * @throws InvalidSettingException if it is not an object of strings
   */
  public static ModelIdentity ofJson(String text) {
    JsonNode root = StrictJson.object(text, "an identity");
    TreeMap<String, String> properties = new TreeMap<>();
    for (Map.Entry<String, JsonNode> entry : root.properties()) {
      if (!entry.getValue().isTextual()) {
        throw new InvalidSettingException(
            ErrorDetail.of("an identity is not valid").expected("an object of strings"));
      }
      properties.put(entry.getKey(), entry.getValue().textValue());
    }
    return new ModelIdentity(properties);
  }

  /** {@return an empty builder} */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects the properties of an identity. */
  public static final class Builder {
    private final SortedMap<String, String> properties = new TreeMap<>();

    private Builder() {}

    /**
     * Digest of the weights.
     *
     * @param digest the digest, with the name of its algorithm
     * @return this builder
     */
    public Builder weights(String digest) {
      return property("weights", digest);
    }

    /**
     * Name or digest of the tokenizer.
     *
     * @param value its value, as text
     * @return this builder
     */
    public Builder tokenizer(String value) {
      return property("tokenizer", value);
    }

    /**
     * Rotary embedding: base, scaling, factor.
     *
     * @param value its value, as text
     * @return this builder
     */
    public Builder rope(String value) {
      return property("rope", value);
    }

    /**
     * Quantisation of weights and cache.
     *
     * @param value its value, as text
     * @return this builder
     */
    public Builder quantisation(String value) {
      return property("quantisation", value);
    }

    /**
     * Tensor, pipeline and expert parallel sizes, and this rank.
     *
     * @param value its value, as text
     * @return this builder
     */
    public Builder parallel(String value) {
      return property("parallel", value);
    }

    /**
     * Inference engine and the version of its cache layout.
     *
     * @param value its value, as text
     * @return this builder
     */
    public Builder engine(String value) {
      return property("engine", value);
    }

    /**
     * Any other property.
     *
     * @param name name of the property
     * @param value its value, as text
     * @return this builder
     */
    public Builder property(String name, String value) {
      properties.put(name, value);
      return this;
    }

    /** {@return the identity} */
    public ModelIdentity build() {
      return new ModelIdentity(properties);
    }
  }
}
