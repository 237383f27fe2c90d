package dev.waymark.tools.space;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WipeCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path dir;
  private Path path;

  @BeforeEach
  void fill() {
    path = ToyStore.make(dir.resolve("store"), 3);
    assertThat(Run.of("pin", path, "--keep", "x", "--deepest").exitCode()).isZero();
  }

  @Test
  void aDryRunSaysWhatApplyingDoes() throws IOException {
    JsonNode dry = json("wipe", path, "--namespace", "1", "--json");
    JsonNode before = json("inspect", path, "--json");
    JsonNode done = json("wipe", path, "--namespace", "1", "--apply", "--json");
    JsonNode after = json("inspect", path, "--json");

    assertThat(dry.path("applied").asBoolean()).isFalse();
    assertThat(done.path("applied").asBoolean()).isTrue();
    // The kept chain too.
    assertThat(dry.path("boundaries").asInt()).isEqualTo(before.path("boundaries").asInt());
    for (String field : new String[] {"boundaries", "restore_points", "freed_bytes"}) {
      assertThat(done.path(field)).as(field).isEqualTo(dry.path(field));
    }
    assertThat(after.path("boundaries").asInt()).isZero();
    assertThat(after.path("namespaces")).isEmpty();
  }

  @Test
  void aFingerprintNamesANamespaceToo() throws IOException {
    String fingerprint =
        json("inspect", path, "--json").path("namespaces").path(0).path("fingerprint").asText();

    assertThat(json("wipe", path, "--namespace", fingerprint, "--json").path("boundaries").asInt())
        .isPositive();
    assertThat(Run.of("wipe", path, "--namespace", "01234567").exitCode()).isEqualTo(1);
    assertThat(Run.of("wipe", path, "--tenant", "01234567").exitCode()).isEqualTo(1);
  }

  @Test
  void promptsOfNoTenantAreNamedByTheirRoot() throws IOException {
    String root = json("ls", path, "--json").path("roots").path(0).path("root_key").asText();

    JsonNode done = json("wipe", path, "--tenant", root, "--apply", "--json");

    assertThat(done.path("boundaries").asInt()).isPositive();
    assertThat(json("inspect", path, "--json").path("boundaries").asInt()).isZero();
    assertThat(json("inspect", path, "--json").path("namespaces")).hasSize(1);
  }

  @Test
  void anAgeLeavesWhatIsYoungOrKept() throws IOException {
    assertThat(json("wipe", path, "--older-than", "1d", "--json").path("boundaries").asInt())
        .isZero();

    JsonNode all = json("wipe", path, "--older-than", "0s", "--apply", "--json");
    JsonNode after = json("inspect", path, "--json");

    assertThat(all.path("boundaries").asInt()).isPositive();
    assertThat(after.path("boundaries").asInt()).isPositive();
    assertThat(after.path("kept_chains").asInt()).isEqualTo(1);
  }

  @Test
  void somethingHasToSayWhat() {
    assertThat(Run.of("wipe", path).exitCode()).isEqualTo(2);
    assertThat(Run.of("wipe", path, "--older-than", "5 weeks").exitCode()).isEqualTo(2);
  }

  private static JsonNode json(Object... arguments) throws IOException {
    Run run = Run.of(arguments);
    assertThat(run.exitCode()).as(run.err()).isZero();
    return JSON.readTree(run.out());
  }
}
