package dev.waymark.tools.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.SnapshotStore;
import dev.waymark.tools.GoneReader;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifyAndRepairCommandTest {
  private static final String[] PARTS = {"live", "dead", "framing", "reserved", "unaccounted"};

  @TempDir Path dir;
  private Path store;

  @BeforeEach
  void make() {
    store = ToyStore.make(dir.resolve("store"), 2);
  }

  private static JsonNode json(Run run) throws IOException {
    return new ObjectMapper().readTree(run.out());
  }

  private static void flip(Path path, long at) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.seek(at);
      int before = file.read();
      file.seek(at);
      file.write(before ^ 1);
    }
  }

  private void loseManifest() throws IOException {
    Files.delete(store.resolve("CURRENT"));
    try (var files = Files.newDirectoryStream(store, "manifest-*")) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
  }

  @Test
  void aDamagedDescriptionOfANamespaceIsThree() throws IOException {
    flip(store.resolve("append-1.seg"), 4_096 + 60);

    Run run = Run.of("verify", store, "--level", "all");

    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.out())
        .contains("ERROR", "NAMESPACE_DESCRIPTION_DAMAGED append-1.seg at byte 4096", "DAMAGED:");
  }

  @Test
  void aDamagedStatusIsSaidAndIsFine() throws IOException {
    flip(store.resolve("STATUS"), 60);

    Run run = Run.of("verify", store);

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("WARNING", "STATUS_DAMAGED", "nothing stored rests on it");
  }

  @Test
  void verifyAndInspectNameTheSameBytesAlikeAndAddUp() throws IOException {
    JsonNode verify = json(Run.of("verify", store, "--json"));
    JsonNode totals = json(Run.of("inspect", store, "--json")).path("totals");

    for (String part : PARTS) {
      long sum = 0;
      for (JsonNode file : verify.path("files")) {
        sum += file.path(part + "_bytes").asLong();
      }
      assertThat(totals.path(part + "_bytes").asLong()).as(part).isEqualTo(sum);
    }
    long allocated = 0;
    for (JsonNode file : verify.path("files")) {
      long sum = 0;
      for (String part : PARTS) {
        sum += file.path(part + "_bytes").asLong();
      }
      assertThat(file.path("allocated_bytes").asLong()).isEqualTo(sum);
      allocated += sum;
    }
    assertThat(totals.path("allocated_bytes").asLong()).isEqualTo(allocated);
    for (String verb : new String[] {"verify", "inspect"}) {
      assertThat(Run.of(verb, store).out()).contains(PARTS).contains("allocated");
    }
    assertThat(Run.of("inspect", store).out()).doesNotContain("other files", "difference");
  }

  @Test
  void theLockIsShownWithWhatItOccupies() throws IOException {
    for (JsonNode file : json(Run.of("verify", store, "--json")).path("files")) {
      if (file.path("file").asText().equals("LOCK")) {
        assertThat(file.path("length_bytes").asLong())
            .isEqualTo(Files.size(store.resolve("LOCK")))
            .isPositive();
        assertThat(file.path("framing_bytes")).isEqualTo(file.path("allocated_bytes"));
        return;
      }
    }
    throw new AssertionError("LOCK is not shown");
  }

  @Test
  void inspectTellsACleanCloseFromAWriter() throws IOException {
    assertThat(Run.of("inspect", store).out()).contains("closed cleanly", "Z)");
    assertThat(json(Run.of("inspect", store, "--json")).path("closed_cleanly").asBoolean())
        .isTrue();
    try (SnapshotStore opened = ToyStore.open(store)) {
      assertThat(Run.of("inspect", store).out())
          .contains("was last heard of", "process " + ProcessHandle.current().pid())
          .doesNotContain("closed cleanly");
    }
  }

  @Test
  void aRebuildOfAllThereIsIsFine() throws IOException {
    loseManifest();

    Run preview = Run.of("repair", store, "--rebuild-manifest");
    Run apply = Run.of("repair", store, "--rebuild-manifest", "--apply");

    assertThat(preview.exitCode()).isZero();
    assertThat(preview.out())
        .contains("Would bring back", "No sign of more", "Nothing was changed");
    assertThat(apply.exitCode()).isZero();
    assertThat(apply.out()).contains("Brought back", "No sign of more");
  }

  @Test
  void aMissingSegmentIsSeven() throws IOException {
    List<String> names = new ArrayList<>();
    try (var files = Files.newDirectoryStream(store, "*.seg")) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    }
    for (String name : names) {
      store = ToyStore.make(dir.resolve("without-" + name), 2);
      loseManifest();
      Files.delete(store.resolve(name));
      for (String[] options : new String[][] {{}, {"--json"}, {"--apply"}}) {
        List<Object> arguments = new ArrayList<>(List.of("repair", store, "--rebuild-manifest"));
        arguments.addAll(List.of(options));

        Run run = Run.of(arguments.toArray());

        assertThat(run.exitCode()).as("%s", arguments).isEqualTo(7);
        assertThat(run.out()).contains("FEWER_THAN_PUBLISHED");
        if (!List.of(options).contains("--json")) {
          assertThat(run.out()).contains("There may have been more");
        }
      }
    }
  }

  @Test
  void previewAndApplySayTheSameOfWhatIsNoStore() throws IOException {
    Path foreign = Files.createDirectory(dir.resolve("foreign"));
    for (int i = 0; i < 2; i++) {
      Run preview = Run.of("repair", foreign, "--rebuild-manifest");
      Run apply = Run.of("repair", foreign, "--rebuild-manifest", "--apply");

      assertThat(preview.exitCode()).isEqualTo(1);
      assertThat(preview.err()).contains("NOT_A_STORE");
      assertThat(apply).isEqualTo(preview);
      try (var files = Files.list(foreign)) {
        assertThat(files).hasSize(i);
      }
      Files.writeString(foreign.resolve("notes.txt"), "somebody's");
    }
  }

  @Test
  void aReaderThatStopsBreaksNothing() {
    for (List<Object> arguments :
        List.<List<Object>>of(
            List.of("inspect", store, "--boundaries", "--json"),
            List.of("verify", store),
            List.of("verify", dir, "--json"),
            List.of("repair", store, "--rebuild-manifest"),
            List.of("pin", store),
            List.of("compact", store))) {
      Run run = Run.into(new GoneReader(), arguments.toArray());

      assertThat(run.exitCode()).as("%s", arguments).isIn(0, 1);
      assertThat(run.err()).as("%s", arguments).isEmpty();
    }
  }
}
