package dev.waymark.tools.move;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.error.WaymarkException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Safetensors files of one chain, in its order, and what is known of them: from a mapping, or from
 * the metadata that export writes.
 *
 * @param files each with the tokens of its boundary, or -1 where its tensors say that
 * @param nameInFile by a tensor's name in the layout, where the file has another
 * @param ownRows whether a file holds only the rows since the file before, not those of the prefix
 * @param rootKey stands above the chain; null for that of the namespace
 * @param keys of the boundaries in order; null where they are not known
 * @param tokenIds of the prompt; null where they are not known
 */
record PointFiles(
    List<Entry> files,
    Layout layout,
    ModelIdentity identity,
    CodecPlan codecs,
    Map<String, String> nameInFile,
    boolean ownRows,
    BoundaryKey rootKey,
    List<BoundaryKey> keys,
    int[] tokenIds) {
  private static final int MOST_MAP_BYTES = 64 << 20;
  private static final String SUFFIX = ".safetensors";

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** A file, and the tokens of its boundary; -1 where its tensors say that. */
  record Entry(Path path, int tokens) {}

  static PointFiles ofFile(Path file, Path map, Path tokenIds, CodecPlan codecs)
      throws IOException {
    int[] ids = ids(tokenIds);
    if (map != null) {
      JsonNode root = readMap(map);
      if (root.has("boundaries")) {
        throw badMap(map, "no boundaries for one file", "some");
      }
      return mapped(root, map, List.of(new Entry(file, -1)), codecs, ids);
    }
    try (SafetensorsFile opened = SafetensorsFile.open(file)) {
      Map<String, String> metadata = opened.header().metadata();
      if (!PointMetadata.isIn(metadata)) {
        throw noLayout(file);
      }
      PointMetadata point = PointMetadata.of(metadata, opened.shownName());
      return new PointFiles(
          List.of(new Entry(file, point.tokens())),
          point.layout(),
          point.identity(),
          point.codecs(),
          Map.of(),
          false,
          point.rootKey(),
          ids == null ? point.keys() : null,
          ids);
    }
  }

  static PointFiles ofFolder(Path folder, Path map, Path tokenIds, CodecPlan codecs)
      throws IOException {
    if (map == null) {
      throw noLayout(folder);
    }
    JsonNode root = readMap(map);
    List<Entry> files = new ArrayList<>();
    Map<String, Path> there = list(folder);
    if (!root.has("boundaries")) {
      there.values().stream()
          .sorted(Comparator.comparing(path -> path.getFileName().toString()))
          .forEach(path -> files.add(new Entry(path, -1)));
    }
    for (JsonNode boundary : root.path("boundaries")) {
      // A name is looked for among those of the folder, and never made into a path.
      Path path = there.get(boundary.path("file").asText());
      JsonNode tokens = boundary.path("tokens");
      if (path == null || !tokens.isMissingNode() && !tokens.canConvertToInt()) {
        throw badMap(map, "boundaries with files of the folder, and tokens", "others");
      }
      files.add(new Entry(path, tokens.isMissingNode() ? -1 : tokens.intValue()));
    }
    if (files.isEmpty()) {
      throw new BadImportException(
          ImportFault.NOTHING_THERE,
          PlainFiles.shown(folder),
          "files *" + SUFFIX,
          "none",
          "give the folder that holds them");
    }
    return mapped(root, map, files, codecs, ids(tokenIds));
  }

  /** The safetensors files of a folder, by name. */
  private static Map<String, Path> list(Path folder) throws IOException {
    Map<String, Path> found = new HashMap<>();
    Set<String> lower = new HashSet<>();
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path path : (Iterable<Path>) entries::iterator) {
        String name = path.getFileName().toString();
        if (!name.toLowerCase(Locale.ROOT).endsWith(SUFFIX)) {
          continue;
        }
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
          throw PlainFiles.notPlain(path);
        }
        if (!lower.add(name.toLowerCase(Locale.ROOT))) {
          throw namesDifferByCase(path);
        }
        found.put(name, path);
      }
    }
    return found;
  }

  static BadImportException namesDifferByCase(Path path) {
    return new BadImportException(
        ImportFault.NAMES_DIFFER_BY_CASE,
        PlainFiles.shown(path),
        "names that differ by more than case",
        "two that do not",
        "rename one of them: which is meant is not clear, and not all file systems keep both");
  }

  private static PointFiles mapped(
      JsonNode root, Path map, List<Entry> files, CodecPlan codecs, int[] ids) {
    Set<String> known =
        Set.of("identity", "layout", "tensors", "boundaries", "rows", "keys", "token_ids");
    for (Map.Entry<String, JsonNode> field : root.properties()) {
      if (!known.contains(field.getKey())) {
        throw badMap(map, "no other fields than " + known.stream().sorted().toList(), "others");
      }
    }
    if (!root.path("layout").isObject() || !root.path("identity").isObject()) {
      throw badMap(map, "an identity and a layout", "none, or something else");
    }
    String rows = root.path("rows").asText("all");
    if (!rows.equals("all") && !rows.equals("own")) {
      throw badMap(map, "rows to be all or own", "something else");
    }
    int[] mapIds = root.has("token_ids") ? TokenIds.of(root.get("token_ids")) : null;
    if (root.has("token_ids") && mapIds == null) {
      throw badMap(map, "token_ids to be numbers of 32 bits", "something else");
    }
    try {
      Layout layout = Layout.ofJson(root.get("layout").toString());
      return new PointFiles(
          files,
          layout,
          ModelIdentity.ofJson(root.get("identity").toString()),
          codecs,
          names(root, map, layout),
          rows.equals("own"),
          null,
          keys(root, map),
          ids == null ? mapIds : ids);
    } catch (BadImportException e) {
      throw e;
    } catch (WaymarkException e) {
      throw badMap(map, "a valid identity, layout and keys", e.detail().what());
    }
  }

  private static Map<String, String> names(JsonNode root, Path map, Layout layout) {
    Map<String, String> names = new HashMap<>();
    for (Map.Entry<String, JsonNode> entry : root.path("tensors").properties()) {
      String name = entry.getValue().asText();
      if (layout.tensor(name) == null || names.put(name, entry.getKey()) != null) {
        throw badMap(map, "each tensor of the layout at most once", "another");
      }
    }
    return names;
  }

  private static List<BoundaryKey> keys(JsonNode root, Path map) {
    if (!root.has("keys")) {
      return null;
    }
    List<BoundaryKey> keys = new ArrayList<>();
    for (JsonNode key : root.get("keys")) {
      keys.add(BoundaryKey.ofHex(key.asText()));
    }
    return keys;
  }

  private static int[] ids(Path tokenIds) throws IOException {
    if (tokenIds == null) {
      return null;
    }
    int[] ids = TokenIds.read(tokenIds);
    if (ids == null) {
      throw badMap(tokenIds, "numbers of 32 bits", "something else");
    }
    return ids;
  }

  private static JsonNode readMap(Path map) throws IOException {
    try {
      JsonNode root = JSON.readTree(PlainFiles.readSmall(map, MOST_MAP_BYTES));
      if (root != null && root.isObject()) {
        return root;
      }
    } catch (JsonProcessingException e) {
      throw badMap(map, "JSON", "an error in line " + e.getLocation().getLineNr());
    }
    throw badMap(map, "a JSON object", "something else");
  }

  private static BadImportException badMap(Path map, Object expected, Object found) {
    return new BadImportException(
        ImportFault.BAD_MAPPING,
        PlainFiles.shown(map),
        expected,
        found,
        "see docs/import.md for what it holds");
  }

  private static BadImportException noLayout(Path path) {
    return new BadImportException(
        ImportFault.NO_LAYOUT,
        PlainFiles.shown(path),
        "the metadata of an export, blocks of a server, or a mapping",
        "none of them",
        "give a mapping with --map; docs/import.md has an example");
  }
}
