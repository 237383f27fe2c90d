package dev.waymark.tools.space;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PinCommandTest {
  @TempDir Path dir;
  private Path store;

  @BeforeEach
  void make() {
    store = ToyStore.make(dir.resolve("store"), 3);
  }

  private static JsonNode json(Run run) throws IOException {
    return new ObjectMapper().readTree(run.out());
  }

  private JsonNode boundary(boolean restorable) throws IOException {
    for (JsonNode b :
        json(Run.of("inspect", store, "--boundaries", "--json")).path("boundary_list")) {
      if (b.path("restorable").asBoolean() == restorable) {
        return b;
      }
    }
    throw new AssertionError("no such boundary");
  }

  @Test
  void aBoundaryIsKeptListedAndReleasedAcrossOpens() throws IOException {
    JsonNode point = boundary(true);
    String key = point.path("key").asText();
    assertThat(Run.of("pin", store).out()).contains("No chains are kept.");

    Run kept = Run.of("pin", store, "--keep", "system", "--boundary", key);

    assertThat(kept.exitCode()).as(kept.err()).isZero();
    assertThat(kept.out()).contains("Kept system: " + point.path("tokens").asInt() + " tokens");
    JsonNode list = json(Run.of("pin", store, "--json"));
    assertThat(list.path("kept")).hasSize(1);
    assertThat(list.path("kept").path(0).path("name").asText()).isEqualTo("system");
    assertThat(list.path("kept").path(0).path("tokens")).isEqualTo(point.path("tokens"));
    assertThat(list.path("kept").path(0).path("bytes").asLong()).isPositive();
    assertThat(Run.of("inspect", store).out()).contains("1 kept chains");
    Run released = Run.of("pin", store, "--release", "system", "--json");
    assertThat(released.exitCode()).isZero();
    assertThat(json(released).path("released").asInt()).isEqualTo(1);
    assertThat(json(released).path("kept")).isEmpty();
    assertThat(Run.of("pin", store, "--release", "system").exitCode()).isEqualTo(1);
  }

  @Test
  void theDeepestPointCanBeKeptByItself() throws IOException {
    Run run = Run.of("pin", store, "--keep", "deep", "--deepest", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    int most = 0;
    for (JsonNode b :
        json(Run.of("inspect", store, "--boundaries", "--json")).path("boundary_list")) {
      most = b.path("restorable").asBoolean() ? Math.max(most, b.path("tokens").asInt()) : most;
    }
    assertThat(json(run).path("added").path("tokens").asInt()).isEqualTo(most);
  }

  @Test
  void whatIsNotOneRestorePointIsNotKept() throws IOException {
    Path twins = dir.resolve("twins");
    try (SnapshotStore opened = ToyStore.open(twins)) {
      ToyStore.serve(opened, 1, 100);
      ToyStore.serve(opened, 2, 100);
    }

    for (Run run :
        new Run[] {
          Run.of("pin", store, "--keep", "x", "--boundary", "00000000"),
          Run.of("pin", store, "--keep", "x", "--boundary", boundary(false).path("key").asText()),
          Run.of("pin", twins, "--keep", "x", "--deepest"),
          Run.of("pin", store, "--keep", " ", "--deepest"),
        }) {
      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.err().strip()).startsWith("segtool: INVALID_ARGUMENT").doesNotContain("\n");
    }
    assertThat(Run.of("pin", store).out()).contains("No chains are kept.");
    assertThat(Run.of("pin", twins).out()).contains("No chains are kept.");
  }

  /** Makes another namespace in the store, and says what it is known by. */
  private String otherNamespace() {
    try (SnapshotStore opened = ToyStore.open(store)) {
      Layout layout =
          Layout.of(16, TensorSpec.rows("rows", DType.F32, 1, TensorSpec.TOKEN_AXIS, 4));
      Namespace other =
          opened.namespace(ModelIdentity.builder().weights("other").engine("t 1").build(), layout);
      return other.abbreviatedFingerprint();
    }
  }

  @Test
  void aNamespaceCanBeChosen() throws IOException {
    String mine =
        json(Run.of("inspect", store, "--json"))
            .path("namespaces")
            .path(0)
            .path("fingerprint")
            .asText();
    String other = otherNamespace();

    Run kept = Run.of("pin", store, "--keep", "a", "--deepest", "--namespace", mine);
    assertThat(kept.exitCode()).as(kept.err()).isZero();
    assertThat(json(Run.of("pin", store, "--namespace", mine, "--json")).path("kept")).hasSize(1);
    assertThat(json(Run.of("pin", store, "--namespace", other, "--json")).path("kept")).isEmpty();
    assertThat(json(Run.of("pin", store, "--json")).path("kept")).hasSize(1);
    // There is no point in the other one, and no third.
    for (String namespace : new String[] {other, "00000000"}) {
      Run none = Run.of("pin", store, "--keep", "b", "--deepest", "--namespace", namespace);
      assertThat(none.exitCode()).isEqualTo(1);
      assertThat(none.err().strip()).startsWith("segtool: INVALID_ARGUMENT");
    }
    assertThat(Run.of("pin", store, "--release", "a", "--namespace", other).exitCode())
        .isEqualTo(1);
    assertThat(Run.of("pin", store, "--release", "a", "--namespace", mine).exitCode()).isZero();
    assertThat(Run.of("pin", store).out()).contains("No chains are kept.");
    assertThat(Run.of("pin", store, "--namespace", "no hex").exitCode()).isEqualTo(2);
  }

  @Test
  void theListIsShownBesideAWriter() throws IOException {
    Run.of("pin", store, "--keep", "live", "--deepest");
    try (SnapshotStore opened = ToyStore.open(store)) {
      JsonNode list = json(Run.of("pin", store, "--json"));
      assertThat(list.path("kept")).hasSize(1);
      assertThat(list.path("kept").path(0).path("name").asText()).isEqualTo("live");
      assertThat(list.path("kept").path(0).path("bytes").asLong())
          .isEqualTo(opened.kept().get(0).bytes());
      assertThat(Run.of("pin", store, "--release", "live").exitCode()).isEqualTo(5);
    }
  }
}
