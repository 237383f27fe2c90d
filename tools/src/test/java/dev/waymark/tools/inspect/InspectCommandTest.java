package dev.waymark.tools.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.tools.GoneReader;
import dev.waymark.tools.Run;
import dev.waymark.tools.model.CachedModel;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ModelConfig;
import dev.waymark.tools.model.Turn;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InspectCommandTest {
  private static final StoreOptions OPTIONS = StoreOptions.builder().quota("64MiB").build();

  @TempDir Path dir;
  private Path path;

  @BeforeEach
  void fill() {
    path = dir.resolve("store");
    try (SnapshotStore store = SnapshotStore.open(path, OPTIONS)) {
      serve(store);
    }
  }

  @Test
  void textShowsSegmentsNamespacesAndTotals() {
    Run run = Run.of("inspect", path, "--boundaries");

    assertThat(run.exitCode()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("append-1.seg", "delta-2.seg", "namespace 1", "engine=waymark-toy/1")
        .contains("blocks of 16 tokens", "allocated", "unaccounted", "restore");
  }

  @Test
  void jsonAddsUp() throws IOException {
    JsonNode json = new ObjectMapper().readTree(Run.of("inspect", path, "--json").out());

    assertThat(json.path("output_version").asInt()).isEqualTo(1);
    assertThat(json.path("command").asText()).isEqualTo("inspect");
    assertThat(json.path("boundaries").asInt()).isEqualTo(6);
    assertThat(json.path("namespaces").path(0).path("boundaries").asInt()).isEqualTo(6);
    JsonNode totals = json.path("totals");
    long sum = 0;
    for (String part : new String[] {"live", "dead", "framing", "reserved", "unaccounted"}) {
      sum += totals.path(part + "_bytes").asLong();
    }
    assertThat(sum).isEqualTo(totals.path("allocated_bytes").asLong());
  }

  @Test
  void tensorsSayWhatTheirCodecsMakeOfThem() throws IOException {
    try (SnapshotStore store = SnapshotStore.open(path, OPTIONS)) {
      serve(store, CodecPlan.RAW.withFixed(Codec.RHT_INT8));
    }

    JsonNode json = new ObjectMapper().readTree(Run.of("inspect", path, "--json").out());
    Run text = Run.of("inspect", path);

    long rawBytes = 0;
    int transformed = 0;
    for (JsonNode tensor : json.path("tensors")) {
      boolean first = tensor.path("namespace").asInt() == 1;
      assertThat(tensor.path("parts").asLong()).as("%s", tensor).isPositive();
      if (first || !tensor.path("codec_asked").asText().equals("RHT_INT8")) {
        assertThat(tensor.path("codec_asked").asText()).isEqualTo("RAW");
        assertThat(tensor.path("ratio").asDouble()).isEqualTo(1);
        assertThat(tensor.path("parts_stored_raw").asLong()).isZero();
      } else if (tensor.path("dtype").asText().equals("F32")) {
        transformed++;
        assertThat(tensor.path("ratio").asDouble()).as("%s", tensor).isGreaterThan(2);
        assertThat(tensor.path("stored_bytes").asLong())
            .isLessThan(tensor.path("raw_bytes").asLong());
      }
      rawBytes += tensor.path("raw_bytes").asLong();
    }
    assertThat(transformed).isPositive();
    assertThat(rawBytes).isPositive();
    assertThat(json.path("tensor_records").asLong()).isPositive();
    assertThat(json.path("tensor_records_unread").asLong()).isZero();
    assertThat(text.out()).contains("tensors of namespace 2", "RHT_INT8");
    assertThat(Run.of("inspect", path, "--no-tensors").out())
        .doesNotContain("tensors of namespace");
  }

  @Test
  void tensorsOfRecordsThatAreLostAreLeftOut() throws IOException {
    Files.delete(path.resolve("append-1.seg"));

    Run run = Run.of("inspect", path);

    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.out()).contains("records could not be read, and are left out");
  }

  @Test
  void worksBesideAWriter() {
    try (SnapshotStore store = SnapshotStore.open(path, OPTIONS)) {
      assertThat(Run.of("inspect", path).exitCode()).isZero();
      serve(store);
      assertThat(Run.of("inspect", path).exitCode()).isZero();
    }
  }

  @Test
  void whatIsNoStoreFailsInOneSentence() throws IOException {
    Path empty = Files.createDirectory(dir.resolve("empty"));

    for (Path none : new Path[] {empty, dir.resolve("missing")}) {
      Run run = Run.of("inspect", none);
      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.out()).isEmpty();
      assertThat(run.err().strip()).startsWith("segtool: NOT_A_STORE").doesNotContain("\n");
    }
  }

  @Test
  void damageIsThree() throws IOException {
    try (RandomAccessFile current = new RandomAccessFile(path.resolve("CURRENT").toFile(), "rw")) {
      current.seek(44);
      current.write(0x5a);
    }

    Run run = Run.of("inspect", path);

    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.err()).contains("CORRUPTION", "CURRENT").doesNotContain("\tat ");
  }

  @Test
  void aFindingIsShownAndIsThree() throws IOException {
    Files.delete(path.resolve("append-1.seg"));

    Run run = Run.of("inspect", path);

    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.out()).contains("SEGMENT_MISSING append-1.seg: ");
  }

  @Test
  void aReaderThatStopsBreaksNothing() {
    Run run = Run.into(new GoneReader(), "inspect", path);

    assertThat(run.exitCode()).isZero();
    assertThat(run.err()).isEmpty();
  }

  private static void serve(SnapshotStore store) {
    serve(store, CodecPlan.RAW);
  }

  private static void serve(SnapshotStore store, CodecPlan codecs) {
    HybridModel model = new HybridModel(ModelConfig.tiny());
    int[] prompt = new Random(1).ints(100, 0, 128).toArray();
    try (Turn turn = new CachedModel(model, store, 16, codecs).begin(prompt, 0)) {
      turn.finishPrompt(tokens -> {});
    }
  }
}
