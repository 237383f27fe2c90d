package dev.waymark.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path dir;
  private Path path;
  private int[] prompt;

  @BeforeEach
  void fill() {
    path = ToyStore.make(dir.resolve("store"), 1);
    prompt = new Random(0).ints(100, 0, 128).toArray();
  }

  @Test
  void whatIsStoredMatches() throws IOException {
    JsonNode found = explain(prompt).path("namespaces").path(0);

    assertThat(found.path("why").asText()).isEqualTo("NONE");
    assertThat(found.path("stored_tokens").asInt()).isEqualTo(96);
    assertThat(
            found.path("restorable_tokens").get(found.path("restorable_tokens").size() - 1).asInt())
        .isEqualTo(96);
  }

  @Test
  void whatGoesOnDifferentlyWasNeverStored() throws IOException {
    int[] other = Arrays.copyOf(prompt, 300);
    other[50]++;

    JsonNode found = explain(other).path("namespaces").path(0);

    assertThat(found.path("stored_tokens").asInt()).isEqualTo(48);
    assertThat(found.path("branch_tokens").asInt()).isEqualTo(48);
    assertThat(found.path("why").asText()).isIn("ABSENT", "NO_STATE");
  }

  @Test
  void whatATenantStoredIsNotTheNamespaces() throws IOException {
    Path salt = Files.write(dir.resolve("salt"), new byte[16]);
    Path file = write(Arrays.toString(prompt));

    assertThat(Run.of("explain", path, file, "--salt-file", salt).out())
        .contains("rows of 0 tokens");
    Files.write(salt, new byte[15]);
    assertThat(Run.of("explain", path, file, "--salt-file", salt).err()).contains("16 bytes");
  }

  @Test
  void aBoundarySaysWhetherItCanBeRestored() throws IOException {
    JsonNode boundaries =
        JSON.readTree(Run.of("ls", path, "--json").out()).path("roots").path(0).path("boundaries");
    for (JsonNode boundary : boundaries) {
      Run run = Run.of("explain", path, boundary.path("key").asText());

      assertThat(run.exitCode()).isZero();
      assertThat(run.out())
          .contains(boundary.path("restorable").asBoolean() ? "can be" : "cannot be")
          .contains("at %,d tokens".formatted(boundary.path("tokens").asInt()));
    }
    Run unknown = Run.of("explain", path, "0123456789abcdef");
    assertThat(unknown.exitCode()).isEqualTo(1);
    assertThat(unknown.out()).contains("No such boundary");
  }

  @Test
  void aWipedBoundaryIsSaidToBe() throws IOException {
    String key =
        JSON.readTree(Run.of("ls", path, "--json").out())
            .path("roots")
            .path(0)
            .path("boundaries")
            .path(0)
            .path("key")
            .asText();
    assertThat(Run.of("wipe", path, "--older-than", "0s", "--apply").exitCode()).isZero();

    Run run = Run.of("explain", path, key);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).containsAnyOf("taken back or wiped", "No such boundary");
  }

  @Test
  void noTokenIsEverShown() throws IOException {
    for (String text :
        new String[] {"[7771, 7772, 7773, x]", "7771 99999999999", "secret 7771", "[7771, 7772]"}) {
      Run run = Run.of("explain", path, write(text));

      // The path of the store has digits at random.
      assertThat((run.out() + run.err()).replace(dir.toString(), ""))
          .doesNotContain("777", "secret", "999", " x");
    }
    assertThat(Run.of("explain", path, write("1 2 x")).exitCode()).isEqualTo(2);
    assertThat(Run.of("explain", path, write("1 2 x")).err()).contains("at byte 4");
    assertThat(Run.of("explain", path, dir.resolve("none")).exitCode()).isEqualTo(1);
  }

  private JsonNode explain(int[] tokens) throws IOException {
    Run run = Run.of("explain", path, write(Arrays.toString(tokens)), "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    return JSON.readTree(run.out());
  }

  private Path write(String text) throws IOException {
    return Files.writeString(dir.resolve("tokens"), text);
  }
}
