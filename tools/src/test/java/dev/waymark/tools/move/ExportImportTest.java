package dev.waymark.tools.move;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreReader;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Run;
import java.io.IOException;
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

  @Test
  void aLossyNamespaceComesBackAsItWas() throws IOException {
    Path lossy = dir.resolve("lossy");
    Path other = dir.resolve("other");
    Path archive = dir.resolve("lossy.wmka");
    try (SnapshotStore opened = open(lossy)) {
      CodecPlan codecs = CodecPlan.PLANES.withFixed(Codec.RHT_INT8);
      STATE.store(opened.namespace(IDENTITY, LAYOUT, codecs), trunk, RestorePolicy.EVERY);
    }
    json(Run.of("export", lossy, "-o", archive, "--json"));

    json(Run.of("import", other, archive, "--create", "--quota", "64MiB", "--json"));

    assertThat(boundaries(other)).isEqualTo(boundaries(lossy));
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
