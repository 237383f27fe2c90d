package dev.waymark.tools.move;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A block of a server, as its file's header and metadata describe it.
 *
 * @param hash what the server knows it by, hex
 * @param tokenCount tokens in it, at most {@code blockTokens}
 * @param layers the classes of its layers' caches
 */
record BlockFile(
    Path path,
    String hash,
    int tokenCount,
    int blockTokens,
    String modelName,
    String signature,
    List<String> layers,
    List<BlockState> states,
    long fileBytes) {
  private static final String VERSION_SUFFIX = "cache_format_version";
  private static final String VERSION = "3";
  private static final int MOST_STATES = 65_535;

  /** Reads the metadata of a block, refusing what contradicts itself. */
  static final class Parser {
    private final SafetensorsFile file;
    private final Map<String, String> metadata;
    private final List<BlockState> states = new ArrayList<>();
    private int tokenCount;

    Parser(SafetensorsFile file) {
      this.file = file;
      this.metadata = file.header().metadata();
    }

    /**
     * The block.
     *
     * @throws BadImportException if its metadata is not what it should be
     */
    BlockFile parse() {
      requireVersion();
      String hash = text("block_hash");
      if (!hash.matches("[0-9a-f]{2,128}")) {
        throw bad("block_hash", "hex digits in lower case", "others");
      }
      int blockTokens = number("block_size", 1);
      tokenCount = number("token_count", 1);
      if (tokenCount > blockTokens) {
        throw bad("token_count", "at most " + blockTokens, tokenCount);
      }
      int count = number("num_layers", 1);
      String signature = metadata.getOrDefault("cache_signature", "{}");
      json("cache_signature", signature);
      List<String> layers = layers(count);
      List<JsonNode> metaStates = metaStates(count);
      for (int i = 0; i < count; i++) {
        layer(i, layers.get(i), metaStates.get(i));
      }
      return new BlockFile(
          file.path(),
          hash,
          tokenCount,
          blockTokens,
          metadata.getOrDefault("model_name", ""),
          signature,
          layers,
          List.copyOf(states),
          file.fileBytes());
    }

    private void requireVersion() {
      for (Map.Entry<String, String> entry : metadata.entrySet()) {
        if (entry.getKey().endsWith(VERSION_SUFFIX) && !entry.getValue().equals(VERSION)) {
          throw new BadImportException(
              ImportFault.BLOCK_VERSION,
              file.shownName(),
              "version " + VERSION,
              SafetensorsHeader.shown(entry.getValue()),
              "let the server write its blocks anew, or use a newer segtool");
        }
      }
    }

    private List<String> layers(int count) {
      JsonNode list = json("layer_cache_types", text("layer_cache_types"));
      List<String> layers = new ArrayList<>();
      for (JsonNode type : list) {
        layers.add(type.asText());
      }
      if (!list.isArray() || layers.size() != count) {
        throw bad("layer_cache_types", "a list of " + count + " names", layers.size());
      }
      return layers;
    }

    private List<JsonNode> metaStates(int count) {
      JsonNode list = json("layer_meta_states", metadata.getOrDefault("layer_meta_states", "[]"));
      if (!list.isArray() || list.size() > count) {
        throw bad("layer_meta_states", "a list of at most " + count, list.size());
      }
      List<JsonNode> states = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        states.add(list.path(i));
      }
      return states;
    }

    private void layer(int layer, String type, JsonNode meta) {
      CacheKind kind = kind(layer, type);
      String prefix = "layer_" + layer;
      if (kind != CacheKind.LIST) {
        states(prefix, kind, meta);
      } else if (metadata.containsKey(prefix + "_sub_count")) {
        int subs = number(prefix + "_sub_count", 0);
        for (int j = 0; j < subs; j++) {
          String sub = prefix + "_sub_" + j;
          String name = className(metadata.get(sub + "_state_class_name"), meta, j);
          CacheKind subKind = name == null ? null : kind(layer, name);
          states(sub, subKind == CacheKind.LIST ? null : subKind, meta.path(1).path(j));
        }
      } else {
        states(prefix, null, meta);
      }
    }

    /** A list's meta state is the names of its caches' classes, and their meta states. */
    private static String className(String named, JsonNode meta, int sub) {
      if (named != null) {
        return named;
      }
      return meta.path(0).path(sub).isTextual() ? meta.path(0).path(sub).asText() : null;
    }

    private CacheKind kind(int layer, String type) {
      CacheKind kind = CacheKind.ofClass(type);
      if (kind == null) {
        throw new BadImportException(
            ImportFault.UNKNOWN_CACHE_TYPE,
            file.shownName(),
            "KVCache, RotatingKVCache, ArraysCache or CacheList in layer " + layer,
            SafetensorsHeader.shown(type),
            "describe the files with --map");
      }
      return kind;
    }

    private void states(String prefix, CacheKind kind, JsonNode meta) {
      int count = number(prefix + "_state_count", 0);
      BlockState.Ring ring = kind == CacheKind.WINDOW ? ring(prefix, meta) : null;
      for (int k = 0; k < count; k++) {
        if (states.size() == MOST_STATES) {
          throw bad(prefix + "_state_count", "at most " + MOST_STATES + " states in all", "more");
        }
        String name = prefix + "_state_" + k;
        SafetensorsHeader.Tensor tensor = file.header().tensor(name);
        if (tensor == null) {
          throw new BadImportException(
              ImportFault.TENSOR_MISSING,
              file.shownName(),
              SafetensorsHeader.shown(name),
              "none",
              "let the server write the block anew");
        }
        if (metadata.containsKey(name + "_none")) {
          states.add(new BlockState(name, kind, ring, null, null));
        } else if (metadata.containsKey(name + "_zero_dim")) {
          states.add(new BlockState(name, kind, ring, null, emptyShape(name + "_zero_dim")));
        } else {
          states.add(new BlockState(name, kind, ring, tensor, null));
        }
      }
    }

    private List<Long> emptyShape(String key) {
      List<Long> shape = new ArrayList<>();
      for (String dim : metadata.get(key).split(",", 17)) {
        if (!dim.matches("[0-9]{1,10}")) {
          throw bad(key, "dims with commas between", "something else");
        }
        shape.add(Long.parseLong(dim));
      }
      if (!shape.contains(0L)) {
        throw bad(key, "a dim of 0", "none");
      }
      return List.copyOf(shape);
    }

    private BlockState.Ring ring(String prefix, JsonNode meta) {
      long[] numbers = new long[4];
      boolean valid = meta.isArray() && meta.size() >= numbers.length;
      for (int i = 0; valid && i < numbers.length; i++) {
        String text = meta.path(i).asText();
        valid = text.matches("[0-9]{1,10}");
        numbers[i] = valid ? Long.parseLong(text) : 0;
      }
      if (!valid || numbers[1] <= numbers[0] || numbers[1] > Integer.MAX_VALUE) {
        throw bad(
            "layer_meta_states of " + prefix,
            "keep, max_size, offset, index of a ring",
            "something else");
      }
      return new BlockState.Ring(numbers[0], numbers[1], numbers[2], numbers[3]);
    }

    private JsonNode json(String key, String text) {
      try {
        JsonNode node = new ObjectMapper().readTree(text);
        if (node != null && node.isContainerNode()) {
          return node;
        }
      } catch (JsonProcessingException e) {
        throw bad(key, "JSON", "something else");
      }
      throw bad(key, "a JSON list or object", "something else");
    }

    private String text(String key) {
      String value = metadata.get(key);
      if (value == null) {
        throw bad(key, "the key", "none");
      }
      return value;
    }

    private int number(String key, int least) {
      String value = text(key);
      if (!value.matches("[0-9]{1,9}") || Integer.parseInt(value) < least) {
        throw bad(key, "a number of " + least + " or more", SafetensorsHeader.shown(value));
      }
      return Integer.parseInt(value);
    }

    private BadImportException bad(String key, Object expected, Object found) {
      return new BadImportException(
          ImportFault.BAD_BLOCK_METADATA,
          file.shownName(),
          expected + " as " + SafetensorsHeader.shown(key),
          found,
          "let the server write the block anew");
    }
  }
}
