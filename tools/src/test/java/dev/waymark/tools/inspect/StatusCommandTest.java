package dev.waymark.tools.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStatus;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Output;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatusCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path dir;
  private Path store;

  @BeforeEach
  void make() {
    store = dir.resolve("store");
    ToyStore.make(store, 2);
  }

  private static JsonNode json(Run run) throws IOException {
    return JSON.readTree(run.out());
  }

  @Test
  void aClosedStoreSaysWhatItsWriterSaidLast() throws IOException {
    Map<String, Long> before = files();
    Run run = Run.of("status", store.toString());
    assertThat(run.exitCode()).isEqualTo(ExitCodes.OK);
    assertThat(run.out())
        .contains("closed cleanly")
        .containsPattern("quota +[0-9,]+ B")
        .contains("oldest added")
        .contains("append ")
        .doesNotContain("WARNING");
    JsonNode root = json(Run.of("status", store.toString(), "--json"));
    JsonNode inspected = json(Run.of("inspect", store.toString(), "--json", "--no-tensors"));
    assertThat(root.path("command").asText()).isEqualTo("status");
    assertThat(root.path("closed_cleanly").asBoolean()).isTrue();
    assertThat(root.at("/published/boundaries")).isEqualTo(inspected.path("boundaries"));
    assertThat(root.at("/published/points")).isEqualTo(inspected.path("restore_points"));
    assertThat(root.at("/published/live_bytes")).isEqualTo(inspected.at("/totals/live_bytes"));
    assertThat(root.path("allocated_bytes")).isEqualTo(inspected.at("/totals/allocated_bytes"));
    assertThat(root.at("/published/append/count").asLong()).isPositive();
    assertThat(root.path("age_millis").asLong()).isNotNegative();
    assertThat(root.at("/published/newest_added_millis").asLong())
        .isGreaterThanOrEqualTo(root.at("/published/oldest_added_millis").asLong())
        .isPositive();
    assertThat(files()).isEqualTo(before);
  }

  @Test
  void besideARunningWriter() throws IOException {
    try (SnapshotStore writing =
        SnapshotStore.open(store, StoreOptions.builder().quota("64MiB").build())) {
      JsonNode root = json(Run.of("status", store.toString(), "--json"));
      assertThat(root.path("closed_cleanly").asBoolean()).isFalse();
      assertThat(root.path("writer_process_id").asLong()).isEqualTo(ProcessHandle.current().pid());
      assertThat(root.at("/published/quota_bytes").asLong()).isEqualTo(64 << 20);
      assertThat(root.path("findings")).isEmpty();
      assertThat(Run.of("status", store.toString()).out()).contains("open by process");
      assertThat(writing.stats().boundaries()).isPositive();
    }
  }

  @Test
  void aDamagedStatusIsReported() throws IOException {
    try (FileChannel file = FileChannel.open(store.resolve("STATUS"), StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {'x'}), 100);
    }
    Run run = Run.of("status", store.toString());
    assertThat(run.exitCode()).isEqualTo(ExitCodes.FAILURE);
    assertThat(run.out()).contains("STATUS_DAMAGED");
    JsonNode root = json(Run.of("status", store.toString(), "--json"));
    assertThat(root.at("/findings/0/id").asText()).isEqualTo("STATUS_DAMAGED");
    assertThat(root.at("/error/code").asText()).isEqualTo("NO_STATUS");
    assertThat(root.at("/error/remedy").asText()).contains("inspect");

    Files.delete(store.resolve("STATUS"));
    Run missing = Run.of("status", store.toString(), "--json");
    assertThat(missing.exitCode()).isEqualTo(ExitCodes.FAILURE);
    assertThat(json(missing).at("/findings/0/id").asText()).isEqualTo("STATUS_MISSING");
  }

  @Test
  void aManifestThatIsCutShortShows() throws IOException {
    String manifest = json(Run.of("status", store.toString(), "--json")).path("manifest").asText();
    try (FileChannel file = FileChannel.open(store.resolve(manifest), StandardOpenOption.WRITE)) {
      file.truncate(100);
    }
    Run run = Run.of("status", store.toString(), "--json");
    assertThat(run.exitCode()).isEqualTo(ExitCodes.CORRUPTION);
    assertThat(json(run).at("/findings/0/id").asText()).isEqualTo("MANIFEST_SHORT");
    Files.delete(store.resolve(manifest));
    assertThat(Run.of("status", store.toString()).out()).contains("MANIFEST_MISSING");
  }

  @Test
  void aStatusOfATimeThatHasNotComeSaysSo() {
    StoreStatus status = StoreStatus.read(store);
    StringWriter text = new StringWriter();
    long now = status.publishedMillis().orElseThrow() - 3 * 3_600_000;
    try (Output out = new Output(new PrintWriter(text))) {
      new StatusText(status, JSON.createObjectNode(), out, now).print();
    }
    assertThat(text.toString()).contains("closed cleanly 3 h ahead of this machine's clock");
  }

  @Test
  void noStoreIsNoStatus() {
    assertThat(Run.of("status", dir.resolve("none").toString()).exitCode())
        .isEqualTo(ExitCodes.FAILURE);
  }

  private Map<String, Long> files() throws IOException {
    Map<String, Long> times = new TreeMap<>();
    try (Stream<Path> all = Files.list(store)) {
      for (Path file : all.toList()) {
        times.put(file.getFileName().toString(), Files.getLastModifiedTime(file).toMillis());
      }
    }
    return times;
  }
}
