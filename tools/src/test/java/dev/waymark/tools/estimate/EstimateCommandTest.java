package dev.waymark.tools.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EstimateCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path dir;

  @Test
  void aStoresNamespaceCostsWhatItTook() throws IOException {
    Path path = ToyStore.make(dir.resolve("store"), 1);
    JsonNode namespace =
        JSON.readTree(Run.of("inspect", path, "--json").out()).path("namespaces").path(0);

    JsonNode estimates =
        JSON.readTree(
                Run.of("estimate", path, "--tokens", "100", "--policy", "lattice", "--json").out())
            .path("estimates");

    assertThat(estimates.path(0).path("codec").asText()).isEqualTo("as it is stored");
    assertThat(estimates.path(0).path("restore_points").asInt())
        .isGreaterThanOrEqualTo(namespace.path("restore_points").asInt());
    // Whole pages here, the records' own lengths there.
    assertThat(estimates.path(0).path("written_bytes").asLong())
        .isGreaterThanOrEqualTo(
            namespace.path("row_record_bytes").asLong()
                + namespace.path("point_record_bytes").asLong());
  }

  @Test
  void policiesAndCodecsDifferAsTheyShould() throws IOException {
    Map<String, Long> written = new HashMap<>();
    JsonNode json =
        JSON.readTree(Run.of("estimate", "--layout", "L3", "--tokens", "20000", "--json").out());
    for (JsonNode row : json.path("estimates")) {
      written.put(
          row.path("policy").asText() + " " + row.path("codec").asText(),
          row.path("written_bytes").asLong());
    }

    assertThat(written).hasSize(4 * 6);
    assertThat(written.get("last raw")).isLessThan(written.get("stride:8 raw"));
    assertThat(written.get("stride:8 raw")).isLessThan(written.get("every raw"));
    assertThat(written.get("every planes, state rht_int8"))
        .isLessThan(written.get("every planes") / 2);
  }

  @Test
  void aLayoutMayComeFromAFile() throws IOException {
    Path file = dir.resolve("layout.json");
    Files.writeString(file, "{\"not\": \"a layout\"}");

    assertThat(Run.of("estimate", "--layout", file, "--tokens", "1").exitCode()).isEqualTo(2);
    Run unknown = Run.of("estimate", "--layout=L77", "--tokens", "1");
    assertThat(unknown.exitCode()).isEqualTo(2);
    assertThat(unknown.err()).contains("L1 (dense hybrid", "L9 (", "no file of that name");
  }

  @Test
  void wrongUsageIsSaid() {
    assertThat(Run.of("estimate", "--tokens", "5").exitCode()).isEqualTo(2);
    assertThat(Run.of("estimate", "--layout", "L1", "--tokens", "0").exitCode()).isEqualTo(2);
    assertThat(Run.of("estimate", "--layout", "L1", "--tokens", "5", "--quota", "auto").exitCode())
        .isEqualTo(2);
    assertThat(Run.of("estimate", dir, "--layout", "L1", "--tokens", "5").exitCode()).isEqualTo(2);
  }
}
