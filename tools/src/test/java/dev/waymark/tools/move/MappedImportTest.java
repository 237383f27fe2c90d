package dev.waymark.tools.move;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.DType;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Run;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedImportTest {
  private static final int BLOCK = 8;
  private static final Layout LAYOUT = MadeState.mixed(BLOCK);
  private static final MadeState STATE = new MadeState(LAYOUT);
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path dir;
  private final int[] ids = new Random(4).ints(6 * BLOCK, 0, 50_000).toArray();

  private Path store() {
    return dir.resolve("store");
  }

  private ObjectNode map(Layout layout) throws IOException {
    ObjectNode map = JSON.createObjectNode();
    map.putObject("identity").put("weights", "mapped");
    map.set("layout", JSON.readTree(layout.toJson()));
    return map;
  }

  private Path write(ObjectNode map) throws IOException {
    return Files.writeString(dir.resolve("map.json"), map.toString());
  }

  /** A file of the state after so many tokens, its rows from a position on. */
  private Path file(Path path, int from, int tokens, String prefix) throws IOException {
    SafetensorsWriter header = new SafetensorsWriter(Map.of());
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    for (TensorSpec spec : LAYOUT.tensors()) {
      boolean rows = spec.growth() instanceof Growth.Rows;
      long count =
          rows ? spec.rowsAfter(tokens) - spec.rowsAfter(from) : PackedState.rows(spec, tokens);
      header.add(prefix + spec.name(), spec.dtype(), PackedState.shape(spec, count));
      data.write(rows ? STATE.rows(spec, ids, from, tokens) : STATE.packed(spec, ids, tokens));
    }
    return write(path, header, data.toByteArray());
  }

  private static Path write(Path path, SafetensorsWriter header, byte[] data) throws IOException {
    byte[] front = header.front();
    Files.createDirectories(path.getParent());
    return Files.write(
        path, ByteBuffer.allocate(front.length + data.length).put(front).put(data).array());
  }

  private JsonNode run(Path source, Object... more) throws IOException {
    List<Object> arguments =
        new ArrayList<>(
            List.of("import", store(), source, "--create", "--quota", "1GiB", "--json"));
    arguments.addAll(List.of(more));
    Run run = Run.of(arguments.toArray());
    JsonNode said = JSON.readTree(run.out());
    assertThat(run.exitCode())
        .as(run.out() + run.err())
        .isEqualTo(said.path("error").path("exit_code").asInt());
    return said;
  }

  private String fault(Path source, ObjectNode map) throws IOException {
    JsonNode error = run(source, "--map", write(map)).path("error");
    assertThat(store()).doesNotExist();
    return error.path("fault").asText();
  }

  private void assertExported(String point, int tokens) throws IOException {
    Path file = dir.resolve("out.safetensors");
    Run run = Run.of("export", store(), point, "-o", file, "--force");
    assertThat(run.exitCode()).as(run.err()).isZero();
    byte[] bytes = Files.readAllBytes(file);
    SafetensorsHeader header = SafetensorsHeader.parse(bytes);
    for (TensorSpec spec : LAYOUT.tensors()) {
      SafetensorsHeader.Tensor tensor = header.tensor(spec.name());
      int from = (int) (header.dataOffset() + tensor.beginBytes());
      assertThat(Arrays.copyOfRange(bytes, from, from + (int) tensor.lengthBytes()))
          .as(spec.name())
          .isEqualTo(STATE.packed(spec, ids, tokens));
    }
  }

  @Test
  void aFileWithOtherNamesAndTokenIdsIsFoundByThem() throws IOException {
    Path file = file(dir.resolve("f/a.safetensors"), 0, ids.length, "model.");
    ObjectNode map = map(LAYOUT);
    for (TensorSpec spec : LAYOUT.tensors()) {
      map.withObject("/tensors").put("model." + spec.name(), spec.name());
    }
    Path tokenIds = Files.writeString(dir.resolve("ids"), Arrays.toString(ids));

    JsonNode said = run(file, "--map", write(map), "--token-ids", tokenIds, "--planes");

    assertThat(said.path("boundaries").asInt()).isEqualTo(6);
    assertThat(said.path("restore_points").asInt()).isEqualTo(1);
    assertThat(said.path("notes")).isEmpty();
    assertExported("--deepest", ids.length);
    try (SnapshotStore opened =
        SnapshotStore.open(store(), StoreOptions.builder().quota("64MiB").build())) {
      ModelIdentity identity = ModelIdentity.builder().weights("mapped").build();
      int[] longer = Arrays.copyOf(ids, ids.length + 1);
      assertThat(opened.namespace(identity, LAYOUT).match(longer).restorableTokens())
          .isEqualTo(ids.length);
    }
  }

  @Test
  void aFolderOfBundlesBecomesAPointEach() throws IOException {
    Path folder = dir.resolve("f");
    for (int tokens = 2 * BLOCK; tokens <= ids.length; tokens += 2 * BLOCK) {
      file(folder.resolve("at" + tokens + ".safetensors"), 0, tokens, "");
    }

    JsonNode said = run(folder, "--map", write(map(LAYOUT)));

    assertThat(said.path("restore_points").asInt()).isEqualTo(3);
    assertThat(said.path("boundaries").asInt()).isEqualTo(6);
    assertThat(said.path("notes").toString()).contains("no prompt finds it");
    assertExported("--deepest", ids.length);
  }

  @Test
  void filesThatHoldTheirOwnRowsFollowEachOtherInTheMappingsOrder() throws IOException {
    Path folder = dir.resolve("f");
    ObjectNode map = map(LAYOUT).put("rows", "own");
    for (int from = 0; from < ids.length; from += 2 * BLOCK) {
      int to = from + 2 * BLOCK;
      String name = "b" + (9 - from / BLOCK) + ".safetensors";
      file(folder.resolve(name), from, to, "");
      map.withArray("/boundaries").addObject().put("file", name).put("tokens", to);
    }
    map.set("token_ids", JSON.valueToTree(ids));

    JsonNode said = run(folder, "--map", write(map));

    assertThat(said.path("restore_points").asInt()).isEqualTo(3);
    assertExported("--deepest", ids.length);
  }

  @Test
  void tokensBehindTheLastBlockAreSkippedAndTheirStateToo() throws IOException {
    Path file = file(dir.resolve("f/a.safetensors"), 0, 3 * BLOCK + 5, "");

    JsonNode said = run(file, "--map", write(map(LAYOUT)));

    assertThat(said.path("boundaries").asInt()).isEqualTo(3);
    assertThat(said.path("restore_points").asInt()).isZero();
    assertThat(said.path("notes").toString()).contains("tokens behind the last whole block");
  }

  @Test
  void whatDoesNotFitTheMappingIsAFault() throws IOException {
    Path file = file(dir.resolve("f/a.safetensors"), 0, ids.length, "");
    Layout other =
        Layout.of(
            BLOCK, TensorSpec.rows("layer_0_keys", DType.BF16, 1, 2, TensorSpec.TOKEN_AXIS, 3));
    assertThat(fault(file, map(other))).isEqualTo("TENSOR_DIFFERS");
    Layout wider =
        Layout.of(
            BLOCK, TensorSpec.rows("layer_0_keys", DType.BF16, 1, 1, 2, TensorSpec.TOKEN_AXIS, 4));
    assertThat(fault(file, map(wider))).isEqualTo("TENSOR_DIFFERS");
    Layout missing = Layout.of(BLOCK, TensorSpec.rows("no", DType.BF16, 1, TensorSpec.TOKEN_AXIS));
    assertThat(fault(file, map(missing))).isEqualTo("TENSOR_MISSING");
    assertThat(fault(file, map(LAYOUT).put("more", 1))).isEqualTo("BAD_MAPPING");
    assertThat(fault(file, JSON.createObjectNode())).isEqualTo("BAD_MAPPING");
    ObjectNode keys = map(LAYOUT);
    keys.putArray("keys").add("ab".repeat(32));
    assertThat(fault(file, keys)).isEqualTo("BAD_MAPPING");
    ObjectNode ids = map(LAYOUT);
    ids.putArray("token_ids").add(5);
    assertThat(fault(file, ids)).isEqualTo("BAD_MAPPING");
    assertThat(run(file).path("error").path("fault").asText()).isEqualTo("NO_LAYOUT");
    ObjectNode outside = map(LAYOUT);
    outside.withArray("/boundaries").addObject().put("file", "../f/a.safetensors");
    assertThat(fault(file.getParent(), outside)).isEqualTo("BAD_MAPPING");
    Files.createSymbolicLink(file.resolveSibling("b.safetensors"), file);
    assertThat(fault(file.getParent(), map(LAYOUT))).isEqualTo("NOT_A_PLAIN_FILE");
    assertThat(fault(file.resolveSibling("b.safetensors"), map(LAYOUT)))
        .isEqualTo("NOT_A_PLAIN_FILE");
    Files.delete(file.resolveSibling("b.safetensors"));
    Files.copy(file, file.resolveSibling("A.safetensors"));
    assertThat(fault(file.getParent(), map(LAYOUT))).isEqualTo("NAMES_DIFFER_BY_CASE");
  }

  @Test
  void tenThousandTensorsWithNamesOfAllKindsStayInTheStore() throws IOException {
    List<TensorSpec> specs = new ArrayList<>();
    SafetensorsWriter header = new SafetensorsWriter(Map.of());
    for (int i = 0; i < 10_000; i++) {
      String name = (i % 2 == 0 ? "../../T" : "../../t") + i / 2;
      specs.add(TensorSpec.rows(name, DType.U8, 1, TensorSpec.TOKEN_AXIS));
      header.add(name, DType.U8, List.of(2L));
    }
    Path file = write(dir.resolve("f/a.safetensors"), header, new byte[20_000]);

    JsonNode said = run(file, "--map", write(map(Layout.of(2, specs))));

    assertThat(said.path("boundaries").asInt()).as(said.toString()).isEqualTo(1);
    try (var entries = Files.list(dir)) {
      assertThat(entries.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("store", "f", "map.json");
    }
  }

  @Test
  void recordedKeysAndValuesComeBackToTheByte() throws IOException {
    String data = System.getProperty("waymark.data", System.getenv("WAYMARK_TEST_DATA"));
    Path file =
        Path.of(data == null ? "../shared/data" : data, "tensors/minilm_kv_1024_bf16.safetensors");
    assumeTrue(Files.exists(file), "no recorded data");
    byte[] bytes = Files.readAllBytes(file);
    SafetensorsHeader header = SafetensorsHeader.parse(bytes);
    List<TensorSpec> specs = new ArrayList<>();
    for (SafetensorsHeader.Tensor tensor : header.tensors()) {
      specs.add(
          TensorSpec.rows(tensor.name(), tensor.dtype(), 1, 1, 12, TensorSpec.TOKEN_AXIS, 32));
    }

    run(file, "--map", write(map(Layout.of(64, specs))), "--planes");

    Path out = dir.resolve("out");
    assertThat(Run.of("export", store(), "--deepest", "-o", out).exitCode()).isZero();
    byte[] exported = Files.readAllBytes(out);
    SafetensorsHeader again = SafetensorsHeader.parse(exported);
    assertThat(again.tensors()).hasSameSizeAs(header.tensors());
    for (SafetensorsHeader.Tensor tensor : header.tensors()) {
      SafetensorsHeader.Tensor copy = again.tensor(tensor.name());
      assertThat(copy.shape()).isEqualTo(tensor.shape());
      int from = (int) (again.dataOffset() + copy.beginBytes());
      int original = (int) (header.dataOffset() + tensor.beginBytes());
      assertThat(Arrays.copyOfRange(exported, from, from + (int) copy.lengthBytes()))
          .isEqualTo(Arrays.copyOfRange(bytes, original, original + (int) tensor.lengthBytes()));
    }
  }
}
