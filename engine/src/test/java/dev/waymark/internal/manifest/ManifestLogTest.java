package dev.waymark.internal.manifest;

import static dev.waymark.internal.manifest.ManifestFixture.NAME;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.StoreIoException;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import java.util.List;
import org.junit.jupiter.api.Test;

class ManifestLogTest {
  private static final Edit EDIT = new Edit.SegmentRemoved(3);

  private final RandomEdits random = new RandomEdits(2);

  @Test
  void theReserveIsAlwaysAllocated() {
    try (ManifestFixture fixture = ManifestFixture.empty();
        StoreFile file = fixture.directory.openReadOnly(NAME)) {
      for (int i = 0; i < 3000; i++) {
        fixture.append(random.list(5));
        if (i % 7 == 0) {
          fixture.log.flushBatch();
        }
        assertThat(fixture.log.allocatedBytes())
            .isGreaterThanOrEqualTo(
                fixture.log.lengthBytes() + fixture.log.pendingBytes() + ManifestLog.RESERVE_BYTES);
      }
      assertThat(file.lengthBytes()).isEqualTo(fixture.log.allocatedBytes());
      assertThat(file.allocatedBytes()).isEqualTo(fixture.log.allocatedBytes());
    }
  }

  @Test
  void aFullDiskRefusesEditsButForThoseThatFreeSpace() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.directory.inject(Fault.diskFull(OperationKind.ALLOCATE).sticky());
      int ordinary = 0;
      try {
        while (ordinary < 1_000_000) {
          fixture.log.append(EDIT, false);
          ordinary++;
        }
      } catch (DiskFullException e) {
        fixture.log.flushBatch();
      }
      int freeing = 0;
      try {
        while (freeing < 1_000_000) {
          fixture.log.append(EDIT, true);
          fixture.log.flushBatch();
          freeing++;
        }
      } catch (DiskFullException e) {
        fixture.log.force();
      }
      assertThat(freeing).isBetween(700, 900); // 80 bytes each, with its mark, in 64 KiB
      fixture.directory.clearFaults();
      fixture.log.append(EDIT, false);
      fixture.log.flushBatch();
      assertThat(fixture.read().edits()).hasSize(1 + ordinary + freeing + 1);
    }
  }

  @Test
  void onAnAlmostFullDiskItTakesTheLeastThatItNeeds() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.append(random.list(12_000));
      fixture.log.flushBatch();
      long before = fixture.log.allocatedBytes();
      fixture.directory.inject(
          Fault.diskFull(OperationKind.ALLOCATE)
              .sticky()
              .within(before + (512 << 10), Long.MAX_VALUE));
      while (fixture.log.allocatedBytes() == before) {
        fixture.append(random.list(1));
      }
      assertThat(fixture.log.allocatedBytes()).isLessThan(before + (512 << 10));
      fixture.log.flushBatch();
      assertThat(fixture.read().edits()).isEqualTo(fixture.edits);
    }
  }

  @Test
  void whatCannotBeEncodedChangesNothing() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.append(random.list(3));
      assertThatThrownBy(() -> fixture.log.append(new Edit.SegmentRemoved(-1), false))
          .isInstanceOf(InvalidArgumentException.class);
      fixture.flush(random.list(3));
      assertThat(fixture.read().edits()).isEqualTo(fixture.edits);
    }
  }

  @Test
  void aFailedWritePoisons() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.append(random.list(30));
      fixture.directory.inject(Fault.ioError(OperationKind.WRITE).afterBytes(700));
      assertThatThrownBy(fixture.log::flushBatch).isInstanceOf(StoreIoException.class);
      refusesAll(fixture);
      assertThat(fixture.read().edits()).isEqualTo(fixture.edits.subList(0, 1));
    }
  }

  @Test
  void aFailedForcePoisonsThoughTheNextWouldSucceed() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      long durable = fixture.log.durableLengthBytes();
      fixture.flush(random.list(30));
      fixture.directory.inject(Fault.ioError(OperationKind.FORCE));
      assertThatThrownBy(fixture.log::force).isInstanceOf(StoreIoException.class);
      refusesAll(fixture);
      assertThat(fixture.log.durableLengthBytes()).isEqualTo(durable);
    }
  }

  @Test
  void aNewManifestTakesThePlaceOfAPoisonedOne() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.flush(random.list(3));
      fixture.directory.inject(Fault.ioError(OperationKind.FORCE));
      assertThatThrownBy(fixture.log::force).isInstanceOf(StoreIoException.class);
      List<Edit> state = random.list(40);
      try (ManifestLog next =
          ManifestCheckpoint.write(
              fixture.directory, 8, ManifestFixture.STORE, 1, state.iterator(), NEXT)) {
        next.append(EDIT, false);
        next.flushBatch();
        next.force();
        assertThat(next.durableLengthBytes()).isEqualTo(next.lengthBytes());
      }
      assertThat(CurrentFile.read(fixture.directory).manifestId()).isEqualTo(8);
      assertThat(fixture.directory.exists(NAME)).isTrue();
    }
  }

  private static final NextIds NEXT = ManifestFixture.NEXT;

  private static void refusesAll(ManifestFixture fixture) {
    assertThat(fixture.log.isPoisoned()).isTrue();
    assertThatThrownBy(() -> fixture.log.append(EDIT, true)).isInstanceOf(StoreIoException.class);
    assertThatThrownBy(fixture.log::flushBatch).isInstanceOf(StoreIoException.class);
    assertThatThrownBy(fixture.log::force).isInstanceOf(StoreIoException.class);
    assertThatThrownBy(fixture.log::proveDurable).isInstanceOf(StoreIoException.class);
  }
}
