package dev.waymark.tools.move;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreReader;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Run;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ExportImportTest {
  private static final int BLOCK = 8;
  private static final Layout LAYOUT = MadeState.mixed(BLOCK);
  private static final MadeState STATE = new MadeState(LAYOUT);
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("made").build();
  private static final byte[] SALT = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  @TempDir Path dir;
  private Path store;
  private int[] trunk;
  private int[] branch;

  @BeforeEach
  void make() {
    store = dir.resolve("store");
    trunk = new Random(1).ints(9 * BLOCK, 0, 50_000).toArray();
    branch = Arrays.copyOf(trunk, 7 * BLOCK);
    for (int i = 4 * BLOCK; i < branch.length; i++) {
      branch[i] += 1;
    }
    try (SnapshotStore opened = open(store)) {
      Namespace namespace = opened.namespace(IDENTITY, LAYOUT);
      STATE.store(namespace, trunk, RestorePolicy.stride(3));
      STATE.store(namespace, branch, RestorePolicy.EVERY);
      STATE.store(namespace.tenant(SALT), Arrays.copyOf(trunk, 2 * BLOCK), RestorePolicy.LAST);
    }
  }

  private static SnapshotStore open(Path path) {
    return SnapshotStore.open(path, StoreOptions.builder().quota("64MiB").build());
  }

  private static JsonNode json(Run run) throws IOException {
    assertThat(run.exitCode()).as(run.err() + run.out()).isZero();
    return new ObjectMapper().readTree(run.out());
  }

  private record Point(String key, int tokens) {}

  private static List<Point> points(Path store) {
    List<Point> points = new ArrayList<>();
    try (StoreReader reader = StoreReader.open(store)) {
      reader.forEachBoundary(
          boundary -> {
            if (boundary.isRestorable()) {
              points.add(new Point(boundary.key().toHex(), boundary.tokens()));
            }
          });
    }
    return points;
  }

  private static List<String> boundaries(Path store) {
    List<String> boundaries = new ArrayList<>();
    try (StoreReader reader = StoreReader.open(store)) {
      reader.forEachBoundary(
          b -> boundaries.add(b.key().toHex() + b.parentKey().toHex() + b.isRestorable()));
    }
    return boundaries;
  }

  private Path export(Path from, Point point, String name) {
    Path file = dir.resolve(name);
    Run run = Run.of("export", from, "--point", point.key(), "-o", file);
    assertThat(run.exitCode()).as(run.err()).isZero();
    return file;
  }

  @Test
  void aPointIsOneFileWithTheLayoutsTensors() throws IOException {
    Path file = dir.resolve("deepest.safetensors");

    JsonNode said = json(Run.of("export", store, "--deepest", "-o", file, "--json"));

    byte[] bytes = Files.readAllBytes(file);
    SafetensorsHeader header = SafetensorsHeader.parse(bytes);
    assertThat(said.path("file_bytes").asLong()).isEqualTo(bytes.length);
    assertThat(said.path("tokens").asInt()).isEqualTo(trunk.length);
    assertThat(header.tensors()).hasSize(LAYOUT.tensors().size());
    for (TensorSpec spec : LAYOUT.tensors()) {
      SafetensorsHeader.Tensor tensor = header.tensor(spec.name());
      int from = (int) (header.dataOffset() + tensor.beginBytes());
      assertThat(tensor.dtype()).isEqualTo(spec.dtype());
      assertThat(Arrays.copyOfRange(bytes, from, from + (int) tensor.lengthBytes()))
          .as(spec.name())
          .isEqualTo(STATE.packed(spec, trunk, trunk.length));
    }
    assertThat(header.metadata())
        .containsEntry("waymark.layout", LAYOUT.toJson())
        .containsEntry("waymark.identity", IDENTITY.toJson())
        .doesNotContainKey("waymark.token_ids");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    try (var left = Files.list(dir)) {
      assertThat(left).containsExactlyInAnyOrder(store, file);
    }
  }

  @Test
  void everyPointThatIsImportedIsExportedAgainToTheByte() throws IOException {
    Path other = dir.resolve("other");
    List<Point> points = points(store);
    assertThat(points).hasSize(8);
    for (Point point : points) {
      Path file = export(store, point, point.key() + ".a");
      JsonNode said = json(Run.of("import", other, file, "--create", "--quota", "64MiB", "--json"));
      assertThat(said.path("kind").asText()).isEqualTo("safetensors");
      assertThat(export(other, point, point.key() + ".b")).hasSameBinaryContentAs(file);
    }
    try (SnapshotStore opened = open(other)) {
      Namespace namespace = opened.namespace(IDENTITY, LAYOUT);
      assertThat(namespace.match(trunk).storedTokens()).isEqualTo(trunk.length);
      assertThat(namespace.tenant(SALT).match(trunk).storedTokens()).isEqualTo(2 * BLOCK);
    }
    assertThat(Run.of("verify", other, "--level", "all").exitCode()).isZero();
  }

  @Test
  void aWholeStoreComesBackFromItsArchive() throws IOException {
    Path archive = dir.resolve("store.wmka");
    Path other = dir.resolve("other");

    JsonNode exported = json(Run.of("export", store, "-o", archive, "--json"));
    JsonNode imported =
        json(Run.of("import", other, archive, "--create", "--quota", "64MiB", "--json"));

    assertThat(exported.path("file_bytes").asLong()).isEqualTo(Files.size(archive));
    assertThat(boundaries(other)).containsExactlyInAnyOrderElementsOf(boundaries(store));
    assertThat(imported.path("boundaries_added").asInt()).isEqualTo(boundaries(store).size());
    assertThat(imported.path("restore_points")).isEqualTo(exported.path("restore_points"));
    for (Point point : points(store)) {
      assertThat(export(other, point, point.key() + ".b"))
          .hasSameBinaryContentAs(export(store, point, point.key() + ".a"));
    }
    assertThat(Run.of("verify", other, "--level", "all").exitCode()).isZero();
    JsonNode again = json(Run.of("import", other, archive, "--json"));
    assertThat(again.path("boundaries_added").asInt()).isZero();
    assertThat(again.path("restore_points_added").asInt()).isZero();
    assertThat(again.path("record_bytes").asLong()).isZero();
  }

  private static List<String> kept(Path store) {
    try (StoreReader reader = StoreReader.open(store)) {
      return reader.kept().stream()
          .map(chain -> chain.name() + " " + chain.namespace().toHex() + chain.key().toHex())
          .toList();
    }
  }

  @Test
  void theNamesOfKeptChainsComeAlong() throws IOException {
    Path archive = dir.resolve("kept.wmka");
    Path other = dir.resolve("other");
    try (SnapshotStore opened = open(store)) {
      Namespace namespace = opened.namespace(IDENTITY, LAYOUT);
      namespace.keep(namespace.match(branch), "the <branch>");
      namespace.keep(namespace.match(branch), "the branch once more");
      opened.maintenance().keepDeepest("", "deepest");
      Namespace tenant = namespace.tenant(SALT);
      int[] asked = Arrays.copyOf(trunk, 2 * BLOCK + 1);
      tenant.keep(tenant.match(asked), "a tenant's");
    }
    JsonNode exported = json(Run.of("export", store, "-o", archive, "--json"));
    assertThat(exported.path("names").asInt()).isEqualTo(4);
    assertThat(exported.path("names_left_out").asInt()).isZero();

    JsonNode first =
        json(Run.of("import", other, archive, "--create", "--quota", "64MiB", "--json"));

    assertThat(kept(other)).hasSize(4).containsExactlyInAnyOrderElementsOf(kept(store));
    assertThat(first.path("names").asInt()).isEqualTo(4);
    assertThat(first.path("names_added").asInt()).isEqualTo(4);
    JsonNode again = json(Run.of("import", other, archive, "--json"));
    assertThat(again.path("names").asInt()).isEqualTo(4);
    assertThat(again.path("names_added").asInt()).isZero();
    assertThat(Run.of("import", other, archive).out()).contains("4 names, 0 of them new");
  }

  @Test
  void aNameThatKeepsAnotherChainThereStopsTheImportBeforeItBegins() throws IOException {
    Path archive = dir.resolve("kept.wmka");
    Path other = dir.resolve("other");
    try (SnapshotStore opened = open(store)) {
      opened.maintenance().keepDeepest("", "a name");
      opened.namespace(ModelIdentity.builder().weights("one more").build(), LAYOUT);
    }
    json(Run.of("export", store, "-o", archive, "--json"));
    try (SnapshotStore opened = open(other)) {
      STATE.store(
          opened.namespace(IDENTITY, LAYOUT), Arrays.copyOf(branch, BLOCK), RestorePolicy.LAST);
      opened.maintenance().keepDeepest("", "a name");
    }
    List<String> boundaries = boundaries(other);
    List<String> kept = kept(other);

    Run refused = Run.of("import", other, archive, "--json");

    JsonNode error = new ObjectMapper().readTree(refused.out()).path("error");
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(error.path("fault").asText()).isEqualTo("NAME_IN_USE");
    assertThat(boundaries(other)).isEqualTo(boundaries);
    assertThat(kept(other)).isEqualTo(kept);
    try (StoreReader reader = StoreReader.open(other)) {
      assertThat(reader.namespaces()).hasSize(1);
    }
    try (SnapshotStore opened = open(other)) {
      opened.maintenance().release("a name");
    }
    json(Run.of("import", other, archive, "--json"));
    assertThat(kept(other)).isEqualTo(kept(store));
  }

  @Test
  void whatIsKeptDoesNotMakeRoomForWhatComesBehindIt() throws IOException {
    Path big = dir.resolve("big");
    Path other = dir.resolve("other");
    Path archive = dir.resolve("big.wmka");
    Layout wide =
        Layout.of(BLOCK, TensorSpec.rows("k", DType.U8, 1, TensorSpec.TOKEN_AXIS, 1 << 14));
    MadeState state = new MadeState(wide);
    int[] first = new Random(0).ints(BLOCK, 0, 50_000).toArray();
    try (SnapshotStore opened = open(big)) {
      Namespace namespace = opened.namespace(IDENTITY, wide);
      state.store(namespace, first, RestorePolicy.LAST);
      namespace.keep(namespace.match(Prompt.ofTokens(first), BLOCK), "first");
      for (int i = 1; i < 160; i++) {
        state.store(namespace, new Random(i).ints(BLOCK, 0, 50_000).toArray(), RestorePolicy.LAST);
      }
    }
    json(Run.of("export", big, "-o", archive, "--json"));

    json(Run.of("import", other, archive, "--create", "--quota", "16MiB", "--json"));

    assertThat(boundaries(other)).hasSizeLessThan(boundaries(big).size());
    assertThat(kept(other)).isEqualTo(kept(big));
    assertThat(Run.of("verify", other, "--level", "all").exitCode()).isZero();
  }

  @Test
  void whatIsThereAlreadyIsJoinedByWhatIsNot() throws IOException {
    Path archive = dir.resolve("store.wmka");
    Path other = dir.resolve("other");
    try (SnapshotStore opened = open(other)) {
      // Rows without points: the archive's points bring their windows along.
      STATE.store(
          opened.namespace(IDENTITY, LAYOUT), Arrays.copyOf(trunk, 5 * BLOCK), RestorePolicy.LAST);
    }
    json(Run.of("export", store, "-o", archive, "--json"));

    json(Run.of("import", other, archive, "--json"));

    for (Point point : points(store)) {
      assertThat(export(other, point, point.key() + ".b"))
          .hasSameBinaryContentAs(export(store, point, point.key() + ".a"));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Codec.class,
      names = {"BF16", "INT8", "RHT_INT8", "RHT_INT16"})
  void aLossyNamespaceComesBackAsItWas(Codec codec) throws IOException {
    Path lossy = dir.resolve("lossy");
    Path other = dir.resolve("other");
    Path archive = dir.resolve("lossy.wmka");
    try (SnapshotStore opened = open(lossy)) {
      CodecPlan codecs = CodecPlan.PLANES.withFixed(codec).withTensor("layer_4_pool", codec);
      STATE.store(opened.namespace(IDENTITY, LAYOUT, codecs), trunk, RestorePolicy.EVERY);
    }
    json(Run.of("export", lossy, "-o", archive, "--json"));

    json(Run.of("import", other, archive, "--create", "--quota", "64MiB", "--json"));

    assertThat(boundaries(other)).isEqualTo(boundaries(lossy));
    for (Point point : points(lossy)) {
      byte[] was = Files.readAllBytes(export(lossy, point, point.key() + ".a"));
      byte[] is = Files.readAllBytes(export(other, point, point.key() + ".b"));
      if (codec == Codec.BF16 || codec == Codec.INT8) {
        assertThat(is).isEqualTo(was);
      } else {
        requireNear(was, is);
      }
    }
  }

  /** What went through a transform again may be off in the last places of f32. */
  private static void requireNear(byte[] was, byte[] is) {
    SafetensorsHeader header = SafetensorsHeader.parse(was);
    assertThat(is).hasSameSizeAs(was);
    for (SafetensorsHeader.Tensor tensor : header.tensors()) {
      ByteBuffer left = part(header, tensor, was);
      ByteBuffer right = part(header, tensor, is);
      if (tensor.dtype() != DType.F32) {
        assertThat(right).as(tensor.name()).isEqualTo(left);
        continue;
      }
      double difference = 0;
      double norm = 0;
      while (left.hasRemaining()) {
        float value = left.getFloat();
        difference += Math.pow(right.getFloat() - value, 2);
        norm += (double) value * value;
      }
      assertThat(Math.sqrt(difference))
          .as(tensor.name())
          .isLessThanOrEqualTo(0x1p-20 * Math.sqrt(norm));
    }
  }

  private static ByteBuffer part(
      SafetensorsHeader header, SafetensorsHeader.Tensor tensor, byte[] file) {
    int from = (int) (header.dataOffset() + tensor.beginBytes());
    return ByteBuffer.wrap(file, from, (int) tensor.lengthBytes()).slice().order(LITTLE_ENDIAN);
  }

  @Test
  void onlyTheNamespaceThatIsAskedForIsExported() throws IOException {
    try (SnapshotStore opened = open(store)) {
      opened.namespace(ModelIdentity.builder().weights("other").build(), LAYOUT);
    }
    String fingerprint =
        json(Run.of("inspect", store, "--json", "--no-tensors"))
            .path("namespaces")
            .path(1)
            .path("fingerprint")
            .asText();

    JsonNode said =
        json(Run.of("export", store, "--namespace", fingerprint, "-o", dir.resolve("a"), "--json"));

    assertThat(said.path("namespaces").asInt()).isEqualTo(1);
    assertThat(said.path("boundaries").asInt()).isZero();
  }

  @Test
  void tokenIdsAreInTheFileOnlyWhereTheyAreGivenAndRight() throws IOException {
    Path ids = dir.resolve("ids");
    Path file = dir.resolve("with.safetensors");
    Files.writeString(ids, Arrays.toString(trunk));

    assertThat(Run.of("export", store, "--deepest", "--token-ids", ids, "-o", file).exitCode())
        .isZero();

    assertThat(
            SafetensorsHeader.parse(Files.readAllBytes(file)).metadata().get("waymark.token_ids"))
        .isEqualTo(Arrays.toString(trunk).replace(" ", ""));
    trunk[3]++;
    Files.writeString(ids, Arrays.toString(trunk));
    Run wrong = Run.of("export", store, "--deepest", "--token-ids", ids, "-o", file, "--force");
    assertThat(wrong.exitCode()).isEqualTo(1);
    assertThat(wrong.err()).doesNotContain(Integer.toString(trunk[3]));
  }

  @Test
  void nothingIsReplacedUnlessItIsAskedFor() throws IOException {
    Path file = Files.writeString(dir.resolve("there"), "mine");

    Run refused = Run.of("export", store, "--deepest", "-o", file);

    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(file).hasContent("mine");
    assertThat(Run.of("export", store, "--deepest", "-o", file, "--force").exitCode()).isZero();
    assertThat(Files.size(file)).isGreaterThan(100);
  }

  @Test
  void exportTakesNoLockAndWritesNothing() throws IOException {
    try (SnapshotStore opened = open(store)) {
      STATE.store(
          opened.namespace(IDENTITY, LAYOUT),
          new Random(5).ints(3 * BLOCK, 0, 9).toArray(),
          RestorePolicy.LAST);

      JsonNode said = json(Run.of("export", store, "-o", dir.resolve("live"), "--json"));

      // What the writer has not said in STATUS yet need not be seen.
      assertThat(said.path("boundaries").asLong()).isBetween(14L, opened.stats().boundaries());
      assertThat(Run.of("import", store, dir.resolve("live")).exitCode()).isEqualTo(5);
    }
  }

  @Test
  void wrongUsageSaysWhatIsWrong() {
    Path out = dir.resolve("o");
    for (Run run :
        List.of(
            Run.of("export", store),
            Run.of("export", store, "-o", out, "--point", "12"),
            Run.of("export", store, "-o", out, "--point", "12345678", "--deepest"),
            Run.of("export", store, "-o", out, "--namespace", "xyz"),
            Run.of("export", store, "-o", out, "--token-ids", out))) {
      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.err().strip()).doesNotContain("\n");
    }
    assertThat(Run.of("export", store, "-o", out, "--point", "00000000").exitCode()).isEqualTo(1);
    assertThat(Run.of("import", store, dir.resolve("nowhere")).exitCode()).isEqualTo(1);
    assertThat(Run.of("export", dir.resolve("nowhere"), "-o", out).exitCode()).isEqualTo(1);
    assertThat(out).doesNotExist();
  }
}
