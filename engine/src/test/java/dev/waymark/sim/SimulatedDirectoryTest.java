package dev.waymark.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.DiskFullException;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.StoreLockedException;
import dev.waymark.error.UnsupportedFileSystemException;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreFile;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** What a directory does while the power is on. */
class SimulatedDirectoryTest {
  private static final int PAGE = Page.SIZE_BYTES;

  private final SimulatedDirectory directory = new SimulatedDirectory();

  @Test
  void aMapAndADescriptorShareTheirPages() {
    try (StoreFile file = directory.create("a")) {
      file.allocate(0, 3 * PAGE);
      try (MappedRegion map = file.map(3 * PAGE, true)) {
        map.put(PAGE - 10, Bytes.of(7, 20), 0, 20);
        UnsafeBuffer read = new UnsafeBuffer(new byte[40]);
        file.read(PAGE - 20, read, 0, 40);
        assertThat(read.getByte(9)).isZero();
        assertThat(read.getByte(10)).isEqualTo((byte) 7);
        assertThat(read.getByte(29)).isEqualTo((byte) 7);
        assertThat(read.getByte(30)).isZero();
        file.write(0, Bytes.of(3, 1), 0, 1);
        map.get(0, read, 0, 1);
        assertThat(read.getByte(0)).isEqualTo((byte) 3);
      }
    }
    directory.assertAllClosed();
  }

  @Test
  void theQuarantineIsListedWithItsPrefix() {
    directory.create("b").close();
    directory.create("quarantine/a").close();
    directory.create("a").close();
    assertThat(directory.list()).containsExactly("a", "b", "quarantine/a");
    assertThat(directory.exists("quarantine/a")).isTrue();
    assertThatThrownBy(() -> directory.create("a")).isInstanceOf(StoreIoException.class);
    assertThatThrownBy(() -> directory.open("c")).isInstanceOf(StoreIoException.class);
    assertThatThrownBy(() -> directory.create("x/a")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aReadPastTheEndIsAFileThatEndsTooEarly() {
    try (StoreFile file = directory.create("a")) {
      file.write(0, Bytes.of(1, 10), 0, 10);
      UnsafeBuffer target = new UnsafeBuffer(new byte[20]);
      assertThatThrownBy(() -> file.read(5, target, 0, 6))
          .isInstanceOf(CorruptionException.class)
          .hasMessageContaining("at byte 5");
    }
  }

  @Test
  void aFileCutUnderItsMapIsAFaultAndNotData() {
    try (StoreFile file = directory.create("a");
        MappedRegion map = mapped(file, 4 * PAGE)) {
      UnsafeBuffer target = new UnsafeBuffer(new byte[PAGE]);
      file.setLength(PAGE + 1);
      map.get(PAGE, target, 0, PAGE);
      assertThatThrownBy(() -> map.get(2 * PAGE, target, 0, 1))
          .isInstanceOf(StoreIoException.class);
      assertThatThrownBy(() -> map.put(2 * PAGE, target, 0, 1))
          .isInstanceOf(StoreIoException.class);
    }
  }

  @Test
  void whatIsCutOffDoesNotComeBack() {
    try (StoreFile file = directory.create("a")) {
      file.write(0, Bytes.of(1, 2 * PAGE), 0, 2 * PAGE);
      file.setLength(100);
      file.setLength(2 * PAGE);
      assertThat(file.allocatedBytes()).isEqualTo(PAGE);
    }
    byte[] bytes = directory.bytes("a");
    assertThat(bytes).hasSize(2 * PAGE);
    assertThat(bytes[99]).isEqualTo((byte) 1);
    assertThat(bytes[100]).isZero();
  }

  @Test
  void aFullDiskIsAnErrorOfTheAllocationAndChangesNothing() {
    SimulatedDirectory small =
        new SimulatedDirectory(SimulationSettings.defaults().capacityBytes(10 * PAGE));
    try (StoreFile file = small.create("a")) {
      file.allocate(0, 6 * PAGE);
      assertThat(small.usableBytes()).isEqualTo(4 * PAGE);
      assertThatThrownBy(() -> file.allocate(6 * PAGE, 5 * PAGE))
          .isInstanceOf(DiskFullException.class);
      assertThat(file.lengthBytes()).isEqualTo(6 * PAGE);
      assertThat(small.allocatedBytes()).isEqualTo(6 * PAGE);
      assertThat(file.punch(PAGE, 2 * PAGE)).isTrue();
      file.allocate(6 * PAGE, 5 * PAGE);
      assertThat(file.lengthBytes()).isEqualTo(11 * PAGE);
      assertThat(small.usableBytes()).isEqualTo(PAGE);
      small.setCapacityBytes(0);
      assertThat(small.usableBytes()).isZero();
    }
  }

  @Test
  void aWriteIntoAFullDiskMayBeHalfDone() {
    SimulatedDirectory small =
        new SimulatedDirectory(SimulationSettings.defaults().capacityBytes(2 * PAGE));
    try (StoreFile file = small.create("a")) {
      UnsafeBuffer source = Bytes.of(1, 3 * PAGE);
      assertThatThrownBy(() -> file.write(0, source, 0, 3 * PAGE))
          .isInstanceOf(DiskFullException.class);
      assertThat(file.lengthBytes()).isEqualTo(2 * PAGE);
    }
  }

  @Test
  void aDeletedFileKeepsItsSpaceUntilNobodyHasIt() {
    StoreFile file = directory.create("a");
    file.write(0, Bytes.of(1, PAGE), 0, PAGE);
    MappedRegion map = file.map(PAGE, false);
    directory.delete("a");
    assertThat(directory.list()).isEmpty();
    file.close();
    assertThat(directory.allocatedBytes()).isEqualTo(PAGE);
    UnsafeBuffer target = new UnsafeBuffer(new byte[1]);
    map.get(0, target, 0, 1);
    assertThat(target.getByte(0)).isEqualTo((byte) 1);
    assertThatThrownBy(directory::assertAllClosed)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("map of a");
    map.close();
    map.close();
    assertThat(directory.allocatedBytes()).isZero();
    directory.assertAllClosed();
  }

  @Test
  void aFileThatWasRenamedOverKeepsItsSpaceToo() {
    StoreFile old = directory.create("a");
    old.write(0, Bytes.of(1, PAGE), 0, PAGE);
    directory.create("b").close();
    directory.rename("b", "a");
    assertThat(directory.list()).containsExactly("a");
    assertThat(directory.allocatedBytes()).isEqualTo(PAGE);
    old.close();
    assertThat(directory.allocatedBytes()).isZero();
  }

  @Test
  void oneHoldsTheLock() {
    SimulatedDirectory other = directory.another();
    directory.lock();
    assertThat(directory.isLocked()).isTrue();
    assertThat(directory.list()).containsExactly("LOCK");
    assertThatThrownBy(other::lock).isInstanceOf(StoreLockedException.class);
    assertThatThrownBy(directory::lock).isInstanceOf(StoreLockedException.class);
    assertThatThrownBy(() -> directory.openReadOnly("LOCK")).isInstanceOf(AssertionError.class);
    directory.close();
    other.lock();
    assertThat(other.isLocked()).isTrue();
    assertThatThrownBy(directory::list).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aCrashReleasesTheLock() {
    directory.lock();
    directory.setCrashPlan(CrashPlan.atOperation(directory.crashPoints() + 1));
    assertThatThrownBy(() -> directory.create("a")).isInstanceOf(SimulatedCrash.class);
    assertThat(directory.isLocked()).isFalse();
    assertThatCode(() -> directory.killState().lock()).doesNotThrowAnyException();
    assertThatCode(() -> directory.crashState(1).lock()).doesNotThrowAnyException();
  }

  @Test
  void misuseIsAnError() {
    StoreFile file = directory.create("a");
    file.setLength(PAGE);
    try (MappedRegion map = file.map(PAGE, true);
        StoreFile reader = directory.openReadOnly("a")) {
      assertThatThrownBy(() -> map.put(0, Bytes.of(1, 1), 0, 1))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("hole");
      assertThatThrownBy(() -> map.put(PAGE, Bytes.of(1, 1), 0, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> reader.write(0, Bytes.of(1, 1), 0, 1))
          .isInstanceOf(IllegalStateException.class);
      file.close();
      assertThatThrownBy(file::force).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void whatTheFileSystemLacksIsMissing() {
    SimulatedDirectory plain =
        new SimulatedDirectory(SimulationSettings.defaults().traits(false, false, false));
    try (StoreFile file = plain.create("a")) {
      file.allocate(0, PAGE);
      assertThat(file.allocatedBytes()).isEqualTo(PAGE);
      assertThat(file.punch(0, PAGE)).isFalse();
      assertThat(file.allocatedBytes()).isEqualTo(PAGE);
      assertThatThrownBy(() -> file.map(PAGE, true))
          .isInstanceOf(UnsupportedFileSystemException.class);
    }
  }

  @Test
  void faultsComeOnTheNthCallOfAKindAndGo() {
    try (StoreFile file = directory.create("a")) {
      directory.inject(Fault.ioError(OperationKind.WRITE).onCall(2));
      directory.inject(Fault.diskFull(OperationKind.ALLOCATE).sticky().onFile("a"));
      UnsafeBuffer source = Bytes.of(1, 1);
      file.write(0, source, 0, 1);
      assertThatThrownBy(() -> file.write(1, source, 0, 1)).isInstanceOf(StoreIoException.class);
      file.write(1, source, 0, 1);
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> file.allocate(0, PAGE)).isInstanceOf(DiskFullException.class);
      }
      directory.clearFaults();
      file.allocate(0, PAGE);
    }
  }

  @Test
  void faultsCanKeepToARangeAndComeInTheMiddle() {
    try (StoreFile file = directory.create("a")) {
      file.allocate(0, 3 * PAGE);
      try (MappedRegion map = file.map(3 * PAGE, true)) {
        directory.inject(Fault.ioError(OperationKind.GET).within(PAGE, 2 * PAGE).sticky());
        directory.inject(Fault.ioError(OperationKind.PUT).afterBytes(5));
        UnsafeBuffer buffer = Bytes.of(1, PAGE);
        assertThatThrownBy(() -> map.put(0, buffer, 0, PAGE)).isInstanceOf(StoreIoException.class);
        map.get(0, buffer, 0, PAGE);
        assertThat(buffer.getByte(4)).isEqualTo((byte) 1);
        assertThat(buffer.getByte(5)).isZero();
        assertThatThrownBy(() -> map.get(PAGE - 1, buffer, 0, 2))
            .isInstanceOf(StoreIoException.class);
        map.get(2 * PAGE, buffer, 0, PAGE);
      }
    }
  }

  @Test
  void theLogNumbersCrashPoints() {
    try (StoreFile file = directory.create("a")) {
      file.write(8, Bytes.of(1, 2), 0, 2);
      file.read(8, Bytes.of(0, 2), 0, 2);
      file.force();
    }
    directory.yieldPoint("here");
    assertThat(directory.operations().toString())
        .isEqualTo(
            "[1 CREATE a 0+0, 2 WRITE a 8+2, - READ a 8+2, 3 FORCE a 0+0, 4 YIELD here 0+0]");
    assertThat(directory.crashPoints()).isEqualTo(4);
  }

  @Test
  void afterACrashThePowerIsOff() {
    StoreFile file = directory.create("a");
    directory.setCrashPlan(CrashPlan.atLabel("commit", 2));
    directory.yieldPoint("commit");
    directory.yieldPoint("other");
    assertThatThrownBy(() -> directory.yieldPoint("commit")).isInstanceOf(SimulatedCrash.class);
    assertThatThrownBy(file::force).isInstanceOf(SimulatedCrash.class);
    assertThatThrownBy(directory::list).isInstanceOf(SimulatedCrash.class);
    assertThatCode(file::close).doesNotThrowAnyException();
    assertThatCode(directory::close).doesNotThrowAnyException();
    assertThat(directory.isPowerOff()).isTrue();
  }

  private static MappedRegion mapped(StoreFile file, long length) {
    file.allocate(0, length);
    return file.map(length, true);
  }
}
