package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.waymark.StoreInspector.FindingReport;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a rebuild says of what it cannot bring back, or cannot know. */
class RebuildFindingsTest {
  @TempDir Path temp;

  @Test
  void anyMissingSegmentIsAnErrorWhereTheManifestTells() {
    for (Path segment : CheckedStore.make(temp.resolve("pattern"), 3).files("*.seg")) {
      CheckedStore store = CheckedStore.make(temp.resolve("store-" + segment.getFileName()), 3);
      CheckedStore.delete(store.path().resolve(segment.getFileName()));

      StoreRepair.Report report = StoreRepair.rebuildManifest(store.path(), false);

      assertThat(report.findings())
          .filteredOn(f -> f.severity().equals("ERROR"))
          .extracting(FindingReport::id, FindingReport::file)
          .containsExactly(
              org.assertj.core.groups.Tuple.tuple(
                  "SEGMENT_MISSING", segment.getFileName().toString()));
    }
  }

  @Test
  void anyMissingSegmentIsAWarningWhereOnlyRecordsTell() {
    for (Path segment : CheckedStore.make(temp.resolve("pattern"), 3).files("*.seg")) {
      for (boolean apply : new boolean[] {false, true}) {
        Path path = temp.resolve("store-" + segment.getFileName() + apply);
        CheckedStore store = CheckedStore.make(path, 3);
        store.losesItsManifest();
        CheckedStore.delete(path.resolve(segment.getFileName()));

        StoreRepair.Report report = StoreRepair.rebuildManifest(path, apply);

        assertThat(report.findings())
            .as("%s", segment)
            .isNotEmpty()
            .allMatch(f -> f.severity().equals("WARNING"))
            .extracting(FindingReport::id)
            .contains("FEWER_THAN_PUBLISHED");
      }
    }
  }

  @Test
  void aGapInTheNumbersIsSaidWithoutAnyOtherSign() {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 1);
    store.losesItsManifest();
    CheckedStore.delete(store.path().resolve("STATUS"));
    CheckedStore.delete(store.path().resolve("append-1.seg"));

    List<FindingReport> findings = StoreRepair.rebuildManifest(store.path(), false).findings();

    assertThat(findings)
        .extracting(FindingReport::id)
        .contains("SEGMENTS_ABSENT", "STATE_WITHOUT_ROWS");
    assertThat(findings).anyMatch(f -> f.text().startsWith("segments 1 are not there"));
  }

  @Test
  void whatIsNoStoreIsRefusedTheSameWayAndLeftUntouched() throws IOException {
    Path empty = Files.createDirectory(temp.resolve("empty"));
    Path foreign = Files.createDirectory(temp.resolve("foreign"));
    Files.writeString(foreign.resolve("notes.txt"), "somebody's");
    Path seg = Files.createDirectory(temp.resolve("seg"));
    Files.write(seg.resolve("append-1.seg"), new byte[10_000]);
    Files.write(seg.resolve("movie.seg"), new byte[10]);
    Path missing = temp.resolve("missing");
    for (Path path : new Path[] {empty, foreign, seg, missing}) {
      Map<String, Integer> before = Files.exists(path) ? CheckedStore.contents(path) : Map.of();

      Throwable look = catchThrowable(() -> StoreRepair.rebuildManifest(path, false));
      Throwable apply = catchThrowable(() -> StoreRepair.rebuildManifest(path, true));

      assertThat(look)
          .isInstanceOf(path.equals(seg) ? CorruptionException.class : NotAStoreException.class);
      assertThat(apply).hasSameClassAs(look).hasMessage(look.getMessage());
      assertThat(((WaymarkException) look).detail().remedy()).isNotEmpty();
      assertThat(Files.exists(path) ? CheckedStore.contents(path) : Map.of()).isEqualTo(before);
    }
  }

  @Test
  void openingWhatIsNoStoreLeavesItUntouched() throws IOException {
    Path foreign = Files.createDirectory(temp.resolve("foreign"));
    Files.writeString(foreign.resolve("notes.txt"), "somebody's");
    Map<String, Integer> before = CheckedStore.contents(foreign);
    StoreOptions options = StoreOptions.builder().quota("64MiB").createIfMissing(false).build();

    assertThatThrownBy(() -> SnapshotStore.open(foreign, options))
        .isInstanceOf(NotAStoreException.class);

    assertThat(CheckedStore.contents(foreign)).isEqualTo(before);
  }

  @Test
  void aStoreWithSwappedSegmentsIsNotOpenedAndLosesNothing() {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 2);
    CheckedStore.swap(store.files("append-*.seg").get(0), store.files("delta-*.seg").get(0));
    Map<String, Integer> before = CheckedStore.contents(store.path());

    assertThatThrownBy(store::open)
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("expected segment 1, found segment 2");

    Map<String, Integer> after = CheckedStore.contents(store.path());
    after.remove("LOCK");
    before.remove("LOCK");
    assertThat(after).isEqualTo(before);
  }

  @Test
  void segmentsGetTheirNamesBack() throws IOException {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 2);
    Map<String, Integer> before = CheckedStore.contents(store.path());
    Path first = store.files("append-*.seg").get(0);
    Path second = store.files("delta-*.seg").get(0);
    CheckedStore.swap(first, second);

    StoreRepair.Report look = StoreRepair.rebuildManifest(store.path(), false);
    StoreRepair.Report done = StoreRepair.rebuildManifest(store.path(), true);

    for (StoreRepair.Report report : new StoreRepair.Report[] {look, done}) {
      assertThat(report.boundaries()).isEqualTo(12);
      assertThat(report.findings())
          .filteredOn(f -> f.id().equals("SEGMENT_MISNAMED"))
          .hasSize(2)
          .allMatch(f -> f.severity().equals("INFO"));
      assertThat(report.findings()).allMatch(f -> f.severity().equals("INFO"));
    }
    Map<String, Integer> after = CheckedStore.contents(store.path());
    for (Path file : store.files("*.seg")) {
      String name = file.getFileName().toString();
      assertThat(after.get(name)).as(name).isEqualTo(before.get(name));
    }
    assertThat(store.verify().isDamaged()).isFalse();
  }

  @Test
  void aSegmentThatCannotBeUsedIsSetAsideAndNotDeletedByTheNextOpen() throws IOException {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 2);
    store.losesItsManifest();
    Path damaged = store.files("delta-*.seg").get(0);
    CheckedStore.flip(damaged, 30, 1);
    Path twice = store.path().resolve("copy.seg");
    Files.copy(store.files("append-*.seg").get(0), twice);
    byte[] bytes = Files.readAllBytes(damaged);

    StoreRepair.Report report = StoreRepair.rebuildManifest(store.path(), true);
    store.open().close();

    assertThat(report.findings())
        .extracting(FindingReport::id)
        .contains("SEGMENT_HEADER_DAMAGED", "SEGMENT_TWICE");
    assertThat(store.path().resolve("quarantine").resolve(damaged.getFileName()))
        .hasBinaryContent(bytes);
    assertThat(store.path().resolve("quarantine/copy.seg")).exists();
  }
}
