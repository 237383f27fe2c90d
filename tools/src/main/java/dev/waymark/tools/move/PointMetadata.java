package dev.waymark.tools.move;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.waymark.error.WaymarkException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the metadata of an exported restore point says.
 *
 * @param tokens of the prefix
 * @param rootKey stands above the first boundary
 * @param keys of the chain's boundaries in order
 * @param tokenIds those of the prefix, where the user asked for them; else null
 */
record PointMetadata(
    Layout layout,
    ModelIdentity identity,
    CodecPlan codecs,
    int tokens,
    BoundaryKey rootKey,
    List<BoundaryKey> keys,
    int[] tokenIds) {
  private static final String VERSION = "waymark.version";
  private static final String LAYOUT = "waymark.layout";
  private static final String IDENTITY = "waymark.identity";
  private static final String CODECS = "waymark.codecs";
  private static final String TOKENS = "waymark.tokens";
  private static final String ROOT = "waymark.root_key";
  private static final String KEYS = "waymark.keys";
  private static final String TOKEN_IDS = "waymark.token_ids";

  Map<String, String> toMap() {
    Map<String, String> map = new LinkedHashMap<>();
    map.put(VERSION, "1");
    map.put(LAYOUT, layout.toJson());
    map.put(IDENTITY, identity.toJson());
    map.put(CODECS, codecs.toJson());
    map.put(TOKENS, Integer.toString(tokens));
    map.put(ROOT, rootKey.toHex());
    ArrayNode list = JsonNodeFactory.instance.arrayNode();
    keys.forEach(key -> list.add(key.toHex()));
    map.put(KEYS, list.toString());
    if (tokenIds != null) {
      ArrayNode ids = JsonNodeFactory.instance.arrayNode();
      for (int id : tokenIds) {
        ids.add(id);
      }
      map.put(TOKEN_IDS, ids.toString());
    }
    return map;
  }

  /** Whether metadata is that of an exported restore point. */
  static boolean isIn(Map<String, String> map) {
    return map.containsKey(VERSION) && map.containsKey(LAYOUT);
  }

  /**
   * Reads it.
   *
   * @throws BadImportException if it is not what it should be
   */
  static PointMetadata of(Map<String, String> map, String file) {
    if (!map.get(VERSION).equals("1")) {
      throw new BadImportException(
          ImportFault.ARCHIVE_VERSION,
          file,
          "version 1",
          SafetensorsHeader.shown(map.get(VERSION)),
          "use a newer segtool");
    }
    for (String name : List.of(IDENTITY, CODECS, TOKENS, ROOT, KEYS)) {
      if (!map.containsKey(name)) {
        throw bad(file, name, "none");
      }
    }
    try {
      Layout layout = Layout.ofJson(map.get(LAYOUT));
      int tokens = Integer.parseInt(map.get(TOKENS));
      List<BoundaryKey> keys = new ArrayList<>();
      for (JsonNode key : new ObjectMapper().readTree(map.get(KEYS))) {
        keys.add(BoundaryKey.ofHex(key.asText()));
      }
      if (tokens <= 0 || tokens != (long) keys.size() * layout.blockTokens()) {
        throw bad(file, "a key a block", keys.size() + " for " + tokens + " tokens");
      }
      return new PointMetadata(
          layout,
          ModelIdentity.ofJson(map.get(IDENTITY)),
          CodecPlan.ofJson(map.get(CODECS)),
          tokens,
          BoundaryKey.ofHex(map.get(ROOT)),
          keys,
          null);
    } catch (BadImportException e) {
      throw e;
    } catch (WaymarkException e) {
      throw bad(file, "the metadata of an export", e.detail().what());
    } catch (NumberFormatException | JsonProcessingException e) {
      throw bad(file, "the metadata of an export", "something else");
    }
  }

  private static BadImportException bad(String file, String expected, String found) {
    return new BadImportException(
        ImportFault.BAD_MAPPING, file, expected, found, "export the point anew, or give --map");
  }
}
