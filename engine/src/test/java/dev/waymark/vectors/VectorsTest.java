package dev.waymark.vectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.Namespace;
import dev.waymark.PrefixMatch;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreInspector;
import dev.waymark.StoreOptions;
import dev.waymark.StoreVerifier;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.RestoreMissException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Prompt;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The engine says of every vector what a reader has to say. */
class VectorsTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().quota("256MiB").backgroundThread(false).build();

  @TempDir Path temp;

  static List<Vector> valid() {
    return Vector.all("valid");
  }

  static List<Vector> invalid() {
    return Vector.all("invalid");
  }

  private static StoreVerifier.Report verify(Path store) {
    return StoreVerifier.verify(store, StoreVerifier.Level.ALL, bytes -> {});
  }

  @ParameterizedTest
  @MethodSource
  void valid(Vector vector) {
    Path path = vector.write(temp.resolve("store"));
    StoreVerifier.Report report = verify(path);
    assertThat(report.findings()).noneMatch(finding -> finding.severity().equals("ERROR"));
    Map<Integer, StoreInspector.NamespaceReport> spaces = new TreeMap<>();
    StoreInspector.open(path).namespaces().forEach(space -> spaces.put(space.id(), space));
    assertThat(spaces).hasSize(vector.expect().get("namespaces").size());
    for (JsonNode space : vector.expect().get("namespaces")) {
      StoreInspector.NamespaceReport found = spaces.get(space.get("id").intValue());
      assertThat(space.get("fingerprint").textValue()).startsWith(found.fingerprint());
      assertThat(found.boundaries()).isEqualTo(space.get("boundaries").longValue());
    }
    if (!vector.expect().get("writable").booleanValue()) {
      assertThatThrownBy(() -> SnapshotStore.open(path, OPTIONS).close())
          .isInstanceOf(UnsupportedFormatException.class);
      assertThat(files(verify(path))).as("left as it was").isEqualTo(files(report));
      return;
    }
    try (SnapshotStore store = SnapshotStore.open(path, OPTIONS)) {
      for (JsonNode space : vector.expect().get("namespaces")) {
        for (JsonNode point : space.get("points")) {
          restores(store, spaces.get(space.get("id").intValue()), point);
        }
      }
    }
  }

  /** All but the lock, which whoever tries to write leaves. */
  private static List<StoreVerifier.FileBytes> files(StoreVerifier.Report report) {
    return report.files().stream().filter(file -> !file.file().equals("LOCK")).toList();
  }

  private static void restores(
      SnapshotStore store, StoreInspector.NamespaceReport space, JsonNode point) {
    int tokens = point.get("tokens").intValue();
    PrefixMatch match = match(store, space, point.get("chain"), point.get("salt"), tokens);
    assertThat(match.storedTokens()).isEqualTo(tokens);
    Map<String, String> expected = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> tensor : point.get("tensors").properties()) {
      expected.put(tensor.getKey(), tensor.getValue().textValue());
    }
    assertThat(RestoredHashes.of(space.layout(), match, tokens)).isEqualTo(expected);
  }

  private static PrefixMatch match(
      SnapshotStore store,
      StoreInspector.NamespaceReport space,
      JsonNode chain,
      JsonNode salt,
      int tokens) {
    Namespace namespace = store.namespace(space.identity(), space.layout(), space.codecs());
    if (salt != null) {
      namespace = namespace.tenant(HexFormat.of().parseHex(salt.textValue()));
    }
    List<BoundaryKey> keys = new ArrayList<>();
    chain.forEach(key -> keys.add(BoundaryKey.of(HexFormat.of().parseHex(key.textValue()))));
    return namespace.match(Prompt.ofKeys(keys, tokens), tokens);
  }

  @ParameterizedTest
  @MethodSource
  void invalid(Vector vector) {
    Path path = vector.write(temp.resolve("store"));
    switch (vector.expect().get("when").textValue()) {
      case "open" -> refused(vector, path);
      case "restore" -> missed(vector, path);
      default -> found(vector, path);
    }
  }

  /** No state at all, whoever asks; and where the fault is. */
  private static void refused(Vector vector, Path path) {
    Class<? extends WaymarkException> type =
        switch (vector.expect().get("error").textValue()) {
          case "no-store" -> NotAStoreException.class;
          case "newer" -> UnsupportedFormatException.class;
          default -> CorruptionException.class;
        };
    assertThatThrownBy(() -> verify(path)).isInstanceOfSatisfying(type, e -> stands(vector, e));
    if (type != NotAStoreException.class) {
      assertThatThrownBy(() -> SnapshotStore.open(path, OPTIONS).close()).isInstanceOf(type);
    }
  }

  private static void stands(Vector vector, WaymarkException e) {
    if (e instanceof NotAStoreException) {
      return;
    }
    assertThat(e.detail().file()).isEqualTo(vector.expect().get("file").textValue());
    if (vector.expect().has("offset") && e instanceof CorruptionException) {
      assertThat(e.detail().offsetBytes().orElse(-1))
          .as(e.detail().sentence())
          .isEqualTo(vector.expect().get("offset").longValue());
    }
  }

  /** The check finds it, and a restore that needs it gives nothing. */
  private static void missed(Vector vector, Path path) {
    assertThat(verify(path).findings())
        .as("findings")
        .anyMatch(finding -> finding.severity().equals("ERROR"));
    StoreInspector.NamespaceReport space = StoreInspector.open(path).namespaces().get(0);
    try (SnapshotStore store = SnapshotStore.open(path, OPTIONS)) {
      PrefixMatch match = match(store, space, vector.expect().get("chain"), null, 4);
      if (match.points().length == 0) {
        return; // the window has a gap, which opening sees without reading a record
      }
      assertThatThrownBy(() -> RestoredHashes.of(space.layout(), match, 4))
          .isInstanceOfAny(RestoreMissException.class, UnsupportedFormatException.class);
    } catch (CorruptionException | UnsupportedFormatException e) {
      // A segment's file that is another's, or a later version's, is not opened for writing at all.
      assertThat(vector.expect().get("rule").textValue())
          .isIn("segment-header", "newer-read-version");
    }
  }

  private static void found(Vector vector, Path path) {
    assertThat(verify(path).findings())
        .anyMatch(finding -> finding.file().equals(vector.expect().get("file").textValue()));
  }

  @Test
  void theyChangeOnlyWithTheVersionOfTheFormat() throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    List<Vector> all = new ArrayList<>(Vector.all("invalid"));
    all.addAll(Vector.all("valid"));
    all.sort(Comparator.comparing(Vector::name));
    for (Vector vector : all) {
      byte[] text = Files.readAllBytes(Vector.ROOT.resolve(vector.name() + ".json"));
      digest.update((vector.name() + " " + text.length + "\n").getBytes(StandardCharsets.UTF_8));
      digest.update(text);
    }
    assertThat(hashes())
        .as("what a reader of this version has to say; a change needs a new version of the format")
        .containsEntry(FormatVersions.READ, HexFormat.of().formatHex(digest.digest()));
  }

  private static Map<Integer, String> hashes() throws IOException {
    Map<Integer, String> hashes = new TreeMap<>();
    for (String line : Files.readAllLines(Vector.ROOT.resolve("HASHES"))) {
      String[] words = line.split(" ");
      hashes.put(Integer.parseInt(words[0]), words[1]);
    }
    return hashes;
  }
}
