package dev.waymark.vectors;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A store in the form that {@code format-spec/vectors/README.md} describes. */
public record Vector(String name, JsonNode json) {
  static final Path ROOT = Path.of("..", "format-spec", "vectors");

  /** All of {@code valid} or of {@code invalid}, by name. */
  public static List<Vector> all(String kind) {
    List<Vector> list = new ArrayList<>();
    try (Stream<Path> files = Files.list(ROOT.resolve(kind))) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        list.add(of(kind + "/" + file.getFileName().toString().replace(".json", "")));
      }
    } catch (IOException e) {
      throw new AssertionError("the vectors cannot be listed", e);
    }
    return list;
  }

  private static Vector of(String name) {
    try {
      byte[] text = Files.readAllBytes(ROOT.resolve(name + ".json"));
      return new Vector(name, new ObjectMapper().readTree(text));
    } catch (IOException e) {
      throw new AssertionError("the vector " + name + " cannot be read", e);
    }
  }

  JsonNode expect() {
    return json.get("expect");
  }

  Path write(Path directory) {
    try {
      Files.createDirectory(directory);
      for (Map.Entry<String, byte[]> file : files().entrySet()) {
        Files.write(directory.resolve(file.getKey()), file.getValue());
      }
    } catch (IOException e) {
      throw new AssertionError("the vector " + name + " cannot be written", e);
    }
    return directory;
  }

  /** Its files, by name. */
  public Map<String, byte[]> files() {
    Map<String, byte[]> files =
        json.has("base") ? of(json.get("base").textValue()).files() : new TreeMap<>();
    json.path("missing").forEach(file -> files.remove(file.textValue()));
    for (Map.Entry<String, JsonNode> change : json.get("files").properties()) {
      byte[] before = files.getOrDefault(change.getKey(), new byte[0]);
      byte[] data = Arrays.copyOf(before, change.getValue().get("length").intValue());
      for (JsonNode run : change.getValue().get("bytes")) {
        byte[] bytes = HexFormat.of().parseHex(run.get(1).textValue());
        int times = run.size() > 2 ? run.get(2).intValue() : 1;
        for (int i = 0; i < times; i++) {
          System.arraycopy(bytes, 0, data, run.get(0).intValue() + i * bytes.length, bytes.length);
        }
      }
      files.put(change.getKey(), data);
    }
    return files;
  }

  @Override
  public String toString() {
    return name;
  }
}
