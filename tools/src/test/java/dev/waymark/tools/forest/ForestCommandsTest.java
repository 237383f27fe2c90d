package dev.waymark.tools.forest;

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

class ForestCommandsTest {
  @TempDir Path dir;
  private Path path;

  @BeforeEach
  void fill() {
    path = ToyStore.make(dir.resolve("store"), 3);
  }

  @Test
  void lsListsEveryBoundaryOnce() throws IOException {
    JsonNode store = json("inspect", path);
    JsonNode boundaries = json("ls", path).path("roots").path(0).path("boundaries");
    Run text = Run.of("ls", path);

    assertThat(boundaries.size()).isEqualTo(store.path("boundaries").asInt());
    assertThat(count(boundaries, "restorable")).isEqualTo(store.path("restore_points").asInt());
    assertThat(text.exitCode()).isZero();
    assertThat(text.out().lines().filter(line -> line.contains("KiB")).count())
        .isEqualTo(boundaries.size());
    assertThat(text.out().lines().filter(line -> line.contains("restore ")).count())
        .isEqualTo(count(boundaries, "restorable"));
  }

  @Test
  void lsShowsOnlyWhatIsAskedFor() throws IOException {
    JsonNode points = json("ls", path, "--points").path("roots").path(0).path("boundaries");
    JsonNode shallow = json("ls", path, "--depth", "32").path("roots").path(0).path("boundaries");

    assertThat(points.size()).isPositive();
    points.forEach(point -> assertThat(point.path("restorable").asBoolean()).isTrue());
    assertThat(shallow.size()).isEqualTo(6);
    assertThat(Run.of("ls", path, "--namespace", "1").out()).contains("namespace 1");
    assertThat(Run.of("ls", path, "--namespace", "7").exitCode()).isEqualTo(1);
    assertThat(Run.of("ls", path, "--tenant", "01234567").exitCode()).isEqualTo(1);
  }

  @Test
  void treeAddsUpToTheSame() throws IOException {
    JsonNode store = json("inspect", path);
    JsonNode stretches = json("tree", path).path("roots").path(0).path("stretches");
    JsonNode each = json("tree", path, "--all").path("roots").path(0).path("stretches");
    Run text = Run.of("tree", path);

    int blocks = 0;
    long rowBytes = 0;
    for (JsonNode stretch : stretches) {
      blocks += stretch.path("blocks").asInt();
      rowBytes += stretch.path("row_record_bytes").asLong();
    }
    assertThat(blocks).isEqualTo(store.path("boundaries").asInt());
    assertThat(rowBytes)
        .isEqualTo(store.path("namespaces").path(0).path("row_record_bytes").asLong());
    assertThat(each.size()).isEqualTo(blocks);
    assertThat(count(each, "restorable")).isEqualTo(count(stretches, "restorable"));
    assertThat(text.out().lines().filter(line -> line.startsWith("|- ")).count()).isEqualTo(2);
    assertThat(text.out().lines().filter(line -> line.startsWith("`- ")).count()).isEqualTo(1);
    assertThat(text.out()).contains("* ", " restore points in the store");
  }

  private static long count(JsonNode list, String flag) {
    long count = 0;
    for (JsonNode each : list) {
      count += each.path(flag).asBoolean() ? 1 : 0;
    }
    return count;
  }

  private static JsonNode json(Object verb, Object... rest) throws IOException {
    Object[] arguments = new Object[rest.length + 2];
    arguments[0] = verb;
    System.arraycopy(rest, 0, arguments, 1, rest.length);
    arguments[rest.length + 1] = "--json";
    Run run = Run.of(arguments);
    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode json = new ObjectMapper().readTree(run.out());
    assertThat(json.path("output_version").asInt()).isEqualTo(1);
    assertThat(json.path("command").asText()).isEqualTo(verb);
    return json;
  }
}
