package dev.waymark.tools.space;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompactCommandTest {
  @TempDir Path dir;
  private Path store;

  /** A store in whose segments most is dead and was not punched out. */
  @BeforeEach
  void make() {
    store = dir.resolve("store");
    StoreOptions options = StoreOptions.builder().quota("64MiB").punchHoles(false).build();
    try (SnapshotStore opened = SnapshotStore.open(store, options)) {
      for (int i = 0; i < 8; i++) {
        ToyStore.serve(opened, i, 100);
      }
      long now = opened.maintenance().sequence();
      ToyStore.serve(opened, 99, 100);
      opened.maintenance().deleteUsedBefore(now, false);
    }
  }

  private static JsonNode json(Run run) throws IOException {
    return new ObjectMapper().readTree(run.out());
  }

  @Test
  void aDryRunSaysWhatAPlainRunDoes() throws IOException {
    // Opening it gives back what can be punched out.
    Run.of("pin", store, "--release", "none");
    Run dry = Run.of("compact", store, "--dry-run", "--json");
    JsonNode before = json(Run.of("inspect", store, "--json"));
    Run wet = Run.of("compact", store, "--json");

    assertThat(dry.exitCode()).as(dry.err()).isZero();
    assertThat(json(dry).path("dry_run").asBoolean()).isTrue();
    assertThat(json(dry).path("emptied_segments").asInt()).isZero();
    assertThat(json(dry).path("copied_bytes").asLong()).isZero();
    JsonNode candidates = json(dry).path("candidates");
    assertThat(candidates).isNotEmpty().isEqualTo(json(wet).path("candidates"));
    assertThat(json(wet).path("emptied_segments").asInt()).isEqualTo(candidates.size());
    long toCopy = 0;
    for (JsonNode candidate : candidates) {
      toCopy += candidate.path("copy_bytes").asLong();
    }
    assertThat(json(wet).path("copied_bytes").asLong()).isEqualTo(toCopy);
    assertThat(before.path("boundaries").asInt()).isEqualTo(6);
    JsonNode after = json(Run.of("inspect", store, "--json"));
    assertThat(after.path("boundaries").asInt()).isEqualTo(6);
    assertThat(Run.of("verify", store, "--level", "all").exitCode()).isZero();
  }

  @Test
  void aDryRunOfWhatCouldBePunchedOutSaysThatToo() throws IOException {
    JsonNode dry = json(Run.of("compact", store, "--dry-run", "--json"));
    JsonNode inspected = json(Run.of("inspect", store, "--json"));

    assertThat(dry.path("candidates")).isNotEmpty();
    assertThat(without(dry.path("before"))).isEqualTo(inspected.path("totals"));
    assertThat(dry.path("after")).isEqualTo(dry.path("before"));
  }

  @Test
  void besideAWriterOnlyWhatIsSealedIsToBeEmptied() throws IOException {
    try (SnapshotStore opened = ToyStore.open(store)) {
      ToyStore.serve(opened, 7, 400);
      opened.flush();
      Run dry = Run.of("compact", store, "--dry-run", "--target-live-ratio", "1", "--json");
      assertThat(dry.exitCode()).as(dry.err()).isZero();
      List<JsonNode> ofWriter = new ArrayList<>();
      opened
          .maintenance()
          .compact(1, 0, true, (done, of, copied) -> true)
          .candidates()
          .forEach(each -> ofWriter.add(LongNode.valueOf(each.segmentId())));
      List<JsonNode> found = new ArrayList<>();
      json(dry)
          .path("candidates")
          .forEach(each -> found.add(LongNode.valueOf(each.path("id").asLong())));
      assertThat(found).isNotEmpty().containsExactlyInAnyOrderElementsOf(ofWriter);
    }
  }

  @Test
  void itsFiguresAreThoseOfInspect() throws IOException {
    // Opening it gives back what can be punched out.
    Run.of("pin", store, "--release", "none");
    JsonNode inspected = json(Run.of("inspect", store, "--json"));
    JsonNode dry = json(Run.of("compact", store, "--dry-run", "--json"));
    for (JsonNode candidate : dry.path("candidates")) {
      JsonNode segment = null;
      for (JsonNode each : inspected.path("segments")) {
        segment = each.path("id").equals(candidate.path("id")) ? each : segment;
      }
      for (String name : new String[] {"file", "live_bytes", "dead_bytes", "allocated_bytes"}) {
        assertThat(candidate.path(name)).as(name).isEqualTo(segment.path(name));
      }
      assertThat(candidate.path("copy_bytes").asLong() + candidate.path("gain_bytes").asLong())
          .isEqualTo(candidate.path("allocated_bytes").asLong());
    }
    JsonNode before = json(Run.of("inspect", store, "--json"));
    JsonNode wet = json(Run.of("compact", store, "--json"));
    JsonNode after = json(Run.of("inspect", store, "--json"));
    assertThat(without(wet.path("before"))).isEqualTo(before.path("totals"));
    assertThat(without(wet.path("after"))).isEqualTo(after.path("totals"));
    assertThat(wet.path("before").path("segments").asInt())
        .isEqualTo(before.path("segments").size());
  }

  private static JsonNode without(JsonNode account) {
    return ((ObjectNode) account).deepCopy().without("segments");
  }

  @Test
  void itCopiesNoFasterThanItMay() {
    Run run = Run.of("compact", store, "--max-bytes-per-second", "1GiB");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("B copied");
    Run none = Run.of("compact", store, "--max-bytes-per-second", "0B");
    assertThat(none.exitCode()).isNotZero();
    assertThat(none.err()).contains("compactionBytesPerSecond");
  }

  @Test
  void theTableHasBeforeAndAfter() {
    Run dry = Run.of("compact", store, "--dry-run");
    Run wet = Run.of("compact", store);

    assertThat(dry.out()).contains("Dry run: nothing was copied.").doesNotContain("before");
    assertThat(wet.out()).contains("before", "after", "segments", "live", "dead", "allocated");
    assertThat(wet.out()).contains("B copied");
    assertThat(Run.of("compact", store, "--target-live-ratio", "0").out())
        .contains("No segment is worth emptying");
  }

  @Test
  void itCopiesNoMoreThanItMay() throws IOException {
    JsonNode none = json(Run.of("compact", store, "--max-bytes-written", "0B", "--json"));

    assertThat(none.path("candidates")).isNotEmpty();
    assertThat(none.path("copied_bytes").asLong()).isZero();
    long least = Long.MAX_VALUE;
    for (JsonNode candidate : none.path("candidates")) {
      least = Math.min(least, candidate.path("copy_bytes").asLong());
    }
    JsonNode some = json(Run.of("compact", store, "--max-bytes-written", least + "B", "--json"));
    assertThat(some.path("copied_bytes").asLong()).isEqualTo(least);
    assertThat(some.path("emptied_segments").asInt()).isEqualTo(1);
  }

  @Test
  void theRatioBoundsWhatIsEmptied() throws IOException {
    JsonNode few =
        json(Run.of("compact", store, "--target-live-ratio", "0.01", "--dry-run", "--json"));
    JsonNode all =
        json(Run.of("compact", store, "--target-live-ratio", "1", "--dry-run", "--json"));

    assertThat(few.path("candidates")).isEmpty();
    assertThat(all.path("candidates")).isNotEmpty();
  }

  @Test
  void progressIsForTerminalsOnly() {
    PrintStream err = System.err;
    ByteArrayOutputStream seen = new ByteArrayOutputStream();
    System.setErr(new PrintStream(seen, true, StandardCharsets.UTF_8));
    try {
      Run run = Run.of("compact", store);
      assertThat(run.err()).isEmpty();
    } finally {
      System.setErr(err);
    }
    assertThat(seen.toString(StandardCharsets.UTF_8)).doesNotContain("compacting", "\r");
  }
}
