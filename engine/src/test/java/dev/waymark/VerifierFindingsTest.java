package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.StoreInspector.FindingReport;
import dev.waymark.internal.check.ReadOnlyStore;
import dev.waymark.internal.check.SegmentAccount;
import dev.waymark.internal.check.StoreLook;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.log.SegmentSet;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a check says of damage to what no record rests on while all is well. */
class VerifierFindingsTest {
  @TempDir Path temp;

  @Test
  void everyByteOfEveryDescriptionOfANamespaceIsChecked() {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 2);
    int copies = 0;
    for (SegmentAccount segment : look(store).segments()) {
      Path file = store.path().resolve(segment.info().fileName());
      for (SegmentSet.PlacedDescriptor placed : segment.descriptors()) {
        copies++;
        long from = placed.location().offsetBytes();
        for (long at = from; at < from + placed.location().lengthBytes(); at++) {
          int mask = 1 << (at % 8);
          CheckedStore.flip(file, at, mask);
          StoreVerifier.Report report =
              StoreVerifier.verify(store.path(), StoreVerifier.Level.CHECKSUM, bytes -> {});
          CheckedStore.flip(file, at, mask);
          assertThat(report.isDamaged()).as("byte %d of %s", at, file).isTrue();
          assertThat(report.findings())
              .singleElement()
              .satisfies(
                  finding -> {
                    assertThat(finding.id()).isEqualTo("NAMESPACE_DESCRIPTION_DAMAGED");
                    assertThat(finding.severity()).isEqualTo("ERROR");
                    assertThat(finding.file()).isEqualTo(segment.info().fileName());
                    assertThat(finding.offsetBytes()).isEqualTo(from);
                    assertThat(finding.text()).contains("namespace " + placed.namespaceId() + " ");
                  });
        }
      }
    }
    assertThat(copies).isEqualTo(4);
    assertThat(store.verify().findings()).isEmpty();
  }

  @Test
  void everyByteOfStatusIsCheckedAndIsOnlyAWarning() {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 1);
    Path status = store.path().resolve("STATUS");
    for (int at = 0; at < 4_096; at = at < 400 ? at + 1 : at + 67) {
      CheckedStore.flip(status, at, 1 << (at % 8));
      StoreVerifier.Report report =
          StoreVerifier.verify(store.path(), StoreVerifier.Level.STRUCTURE, bytes -> {});
      CheckedStore.flip(status, at, 1 << (at % 8));
      assertThat(report.findings())
          .as("byte %d", at)
          .extracting(FindingReport::id, FindingReport::severity, FindingReport::file)
          .containsExactly(
              org.assertj.core.groups.Tuple.tuple("STATUS_DAMAGED", "WARNING", "STATUS"));
      assertThat(report.isDamaged()).isFalse();
    }
    assertThat(store.verify().findings()).isEmpty();
  }

  @Test
  void aStatusOfAnotherLengthOrStoreIsAWarning() throws IOException {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 1);
    CheckedStore other = CheckedStore.make(temp.resolve("other"), 1);
    Path status = store.path().resolve("STATUS");
    for (long length : new long[] {0, 100, 4_095, 4_097, 8_192}) {
      byte[] before = Files.readAllBytes(status);
      try (RandomAccessFile file = new RandomAccessFile(status.toFile(), "rw")) {
        file.setLength(length);
      }
      assertThat(store.verify().findings())
          .singleElement()
          .satisfies(f -> assertThat(f.text()).contains("found " + length));
      Files.write(status, before);
    }
    Files.copy(
        other.path().resolve("STATUS"), status, java.nio.file.StandardCopyOption.REPLACE_EXISTING);

    assertThat(store.verify().findings())
        .extracting(FindingReport::id)
        .containsExactly("STATUS_DAMAGED");
    store.open().close();
    assertThat(store.verify().findings()).isEmpty();
  }

  @Test
  void swappedSegmentsAreNamedByTheirHeaders() {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 1);
    Path first = store.files("append-*.seg").get(0);
    Path second = store.files("delta-*.seg").get(0);
    CheckedStore.swap(first, second);

    List<FindingReport> found =
        store.verify().findings().stream().filter(f -> f.id().equals("SEGMENT_MISNAMED")).toList();

    assertThat(found).hasSize(2);
    assertThat(found.get(0).text())
        .contains("expected segment 1, found segment 2", "delta-2.seg", "repair");
    assertThat(found.get(1).text()).contains("expected segment 2, found segment 1", "append-1.seg");
    assertThat(store.verify().findings())
        .extracting(FindingReport::id)
        .doesNotContain("RECORD_DAMAGED");
  }

  @Test
  void whatIsAllocatedIsAccountedForFileByFile() throws IOException {
    CheckedStore store = CheckedStore.make(temp.resolve("store"), 2);
    Files.write(store.path().resolve("notes.txt"), new byte[5_000]);

    StoreVerifier.Report report = store.verify();
    StoreInspector.Totals totals = StoreInspector.open(store.path()).totals();

    long allocated = 0;
    long unaccounted = 0;
    for (StoreVerifier.FileBytes file : report.files()) {
      assertThat(
              file.liveBytes()
                  + file.deadBytes()
                  + file.framingBytes()
                  + file.reservedBytes()
                  + file.unaccountedBytes())
          .as(file.file())
          .isEqualTo(file.allocatedBytes());
      assertThat(file.lengthBytes())
          .as(file.file())
          .isEqualTo(Files.size(store.path().resolve(file.file())));
      allocated += file.allocatedBytes();
      unaccounted += file.unaccountedBytes();
    }
    assertThat(allocated).isEqualTo(totals.allocatedBytes());
    assertThat(unaccounted).isEqualTo(totals.unaccountedBytes()).isEqualTo(8_192);
  }

  @Test
  void aCleanCloseIsToldFromAWriterThatDied() {
    Path path = temp.resolve("store");
    CheckedStore store = CheckedStore.make(path, 1);

    assertThat(StoreInspector.open(path).summary().isClosed()).isTrue();
    assertThat(StoreInspector.open(path).summary().processId()).isEmpty();
    SnapshotStore opened = store.open();
    assertThat(StoreInspector.open(path).summary().isClosed()).isFalse();
    opened.abandon();
    StoreInspector.Summary died = StoreInspector.open(path).summary();
    assertThat(died.isClosed()).isFalse();
    assertThat(died.processId()).hasValue(ProcessHandle.current().pid());
  }

  private static ReadOnlyStore look(CheckedStore store) {
    try (StoreDirectory directory = RealDirectory.openReadOnly(store.path())) {
      return StoreLook.at(directory, System::currentTimeMillis);
    }
  }
}
