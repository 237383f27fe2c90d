package dev.waymark.internal.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.StoreIoException;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import dev.waymark.sim.SimulatedDirectory;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class ResumedManifestTest {
  private final RandomEdits random = new RandomEdits(5);

  private static long closedAt(ManifestFixture fixture) {
    return fixture.read().end().closedAtBytes();
  }

  private static ManifestLog resume(SimulatedDirectory directory) {
    return ManifestLog.resume(directory, ManifestFixture.read(directory).end());
  }

  private static void requireDurable(SimulatedDirectory directory, List<Edit> edits) {
    for (long seed = 0; seed < 20; seed++) {
      assertThat(ManifestFixture.read(directory.crashState(seed)).edits()).isEqualTo(edits);
    }
  }

  @Test
  void onlyTheMarkOfACleanCloseClosesAndOnlyWhereItIsLast() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(10));
      assertThat(closedAt(fixture)).isZero();
      fixture.log.proveDurable();
      assertThat(closedAt(fixture)).isEqualTo(fixture.log.lengthBytes() - BatchMark.FRAME_BYTES);
      fixture.flush(random.list(1));
      assertThat(closedAt(fixture)).isZero();
    }
  }

  @Test
  void whatWasBeingWrittenBehindTheMarkTakesItAway() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(10));
      fixture.log.proveDurable();
      try (StoreFile file = fixture.directory.open(ManifestFixture.NAME)) {
        file.write(fixture.log.lengthBytes() + 5, new UnsafeBuffer(new byte[] {1}), 0, 1);
      }
      assertThat(closedAt(fixture)).isZero();
    }
  }

  @Test
  void theCheckpointEndsWhereTheFirstOtherEditBegins() {
    try (ManifestFixture fixture = new ManifestFixture(new SimulatedDirectory(), random.list(60))) {
      long checkpoint = fixture.log.lengthBytes();
      fixture.force(random.list(10));
      fixture.log.proveDurable();
      assertThat(fixture.log.checkpointBytes()).isEqualTo(checkpoint);
      assertThat(fixture.read().end().checkpointBytes()).isEqualTo(checkpoint);
      try (ManifestLog log = resume(fixture.directory)) {
        assertThat(log.checkpointBytes()).isEqualTo(checkpoint);
        assertThat(log.lengthBytes()).isEqualTo(fixture.log.lengthBytes());
      }
    }
  }

  @Test
  void whatIsAppendedFollowsWhatWasThere() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(10));
      fixture.log.proveDurable();
      try (ManifestLog log = resume(fixture.directory)) {
        for (Edit edit : random.list(20)) {
          log.append(edit, false);
          fixture.edits.add(edit);
        }
        log.flushBatch();
        log.force();
        requireDurable(fixture.directory, fixture.edits);
      }
    }
  }

  /** After a force that failed the mark may be in the page cache alone, and clean there. */
  @Test
  void aMarkWhoseForceFailedIsDurableBeforeAnythingIsBuiltOnIt() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(10));
      fixture.directory.inject(Fault.ioError(OperationKind.FORCE).onCall(1));
      assertThatThrownBy(fixture.log::proveDurable).isInstanceOf(StoreIoException.class);
      long closedAt = closedAt(fixture);
      assertThat(closedAt).isPositive();
      try (ManifestLog log = resume(fixture.directory)) {
        for (long seed = 0; seed < 20; seed++) {
          ManifestFixture.Read read = ManifestFixture.read(fixture.directory.crashState(seed));
          assertThat(read.end().closedAtBytes()).isEqualTo(closedAt);
          assertThat(read.edits()).isEqualTo(fixture.edits);
        }
      }
    }
  }

  @Test
  void aFullDiskLeavesItAsItWas() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(10));
      fixture.log.proveDurable();
      byte[] before = fixture.bytes();
      fixture.directory.inject(Fault.diskFull(OperationKind.ALLOCATE).onCall(1).sticky());
      assertThatThrownBy(() -> resume(fixture.directory)).isInstanceOf(DiskFullException.class);
      assertThat(fixture.bytes()).isEqualTo(before);
    }
  }
}
