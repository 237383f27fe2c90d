package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.ClosedException;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.InvalidArgumentException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RealFileTest {
  private static final long GIB = 1L << 30;

  @TempDir Path temp;
  private RealDirectory directory;
  private StoreFile file;

  @BeforeEach
  void open() {
    directory = RealDirectory.openForWriting(temp, false);
    file = directory.create("a");
  }

  @AfterEach
  void close() {
    file.close();
    directory.close();
  }

  @Test
  void takesEveryKindOfBuffer() {
    int length = (3 << 20) + 17;
    UnsafeBuffer expected = Bytes.random(length + 5, 1);
    UnsafeBuffer direct = Bytes.direct(length + 5);
    direct.putBytes(0, expected, 0, length + 5);
    UnsafeBuffer slice = new UnsafeBuffer(direct, 3, length);
    for (UnsafeBuffer source : List.of(expected, direct, Bytes.foreign(direct))) {
      file.setLength(0);
      file.write(11, source, 5, length);
      assertThat(file.lengthBytes()).isEqualTo(11 + length);
      for (UnsafeBuffer target : List.of(Bytes.heap(length + 2), Bytes.direct(length + 2))) {
        file.read(11, target, 2, length);
        assertThat(target.getByte(1)).isZero();
        assertThat(new UnsafeBuffer(target, 2, length))
            .isEqualTo(new UnsafeBuffer(expected, 5, length));
      }
      UnsafeBuffer owner = Bytes.direct(length);
      file.read(11, Bytes.foreign(owner), 0, length);
      assertThat(owner).isEqualTo(new UnsafeBuffer(expected, 5, length));
    }
    file.write(0, slice, 1, 100);
    ExpandableArrayBuffer expandable = new ExpandableArrayBuffer(8);
    file.read(0, expandable, 4, 100);
    assertThat(new UnsafeBuffer(expandable, 4, 100)).isEqualTo(new UnsafeBuffer(expected, 4, 100));
  }

  @Test
  void readingBeyondTheEndIsCorruption() {
    file.write(0, Bytes.random(100, 1), 0, 100);
    assertThatThrownBy(() -> file.read(50, Bytes.heap(100), 0, 100))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("in a at byte 50")
        .hasMessageContaining("expected 100 bytes, found 50 bytes");
    file.read(100, Bytes.heap(1), 0, 0);
  }

  @Test
  void refusesRangesOutsideTheBuffer() {
    assertThatThrownBy(() -> file.write(0, Bytes.heap(10), 5, 6))
        .isInstanceOf(InvalidArgumentException.class);
    assertThatThrownBy(() -> file.read(0, Bytes.heap(10), -1, 6))
        .isInstanceOf(InvalidArgumentException.class);
    assertThatThrownBy(() -> file.write(-1, Bytes.heap(10), 0, 6))
        .isInstanceOf(InvalidArgumentException.class);
    assertThatThrownBy(() -> file.allocate(Long.MAX_VALUE, 6))
        .isInstanceOf(InvalidArgumentException.class);
    assertThatThrownBy(() -> file.setLength(-1)).isInstanceOf(InvalidArgumentException.class);
    assertThatThrownBy(() -> file.punch(1, 4096)).isInstanceOf(InvalidArgumentException.class);
  }

  @Test
  void allocatesBlocksAndLength() {
    file.write(0, Bytes.random(100, 1), 0, 100);
    file.allocate(50, 1 << 20);
    assertThat(file.lengthBytes()).isEqualTo(50 + (1 << 20));
    assertThat(file.allocatedBytes()).isGreaterThanOrEqualTo(1 << 20);
    UnsafeBuffer read = Bytes.heap(200);
    file.read(0, read, 0, 200);
    assertThat(new UnsafeBuffer(read, 0, 100)).isEqualTo(Bytes.random(100, 1));
    assertThat(new UnsafeBuffer(read, 100, 100)).isEqualTo(Bytes.heap(100));

    file.allocate(0, 4096);
    assertThat(file.lengthBytes()).isEqualTo(50 + (1 << 20));
  }

  @Test
  void extendingIsSparseAndCuttingGivesBack() {
    file.setLength(GIB);
    assertThat(file.lengthBytes()).isEqualTo(GIB);
    assertThat(file.allocatedBytes()).isLessThan(1 << 20);
    file.allocate(0, 1 << 20);
    file.setLength(4096);
    assertThat(file.allocatedBytes()).isLessThan(1 << 16);
    file.setLength(0);
    assertThat(file.lengthBytes()).isZero();
  }

  @Test
  void punchesWhereTheFileSystemCan() {
    int length = 1 << 20;
    file.write(0, Bytes.random(length, 1), 0, length);
    file.force();
    long before = file.allocatedBytes();
    assertThat(file.punch(4096, 1 << 19)).isEqualTo(directory.traits().canPunch());
    if (directory.traits().canPunch()) {
      assertThat(file.allocatedBytes()).isLessThanOrEqualTo(before - (1 << 19));
      UnsafeBuffer read = Bytes.heap(1 << 19);
      file.read(4096, read, 0, 1 << 19);
      assertThat(read).isEqualTo(Bytes.heap(1 << 19));
    }
    assertThat(file.lengthBytes()).isEqualTo(length);
    assertThat(file.punch(0, 0)).isTrue();
  }

  @Test
  void offsetsBeyondFourGibibytes() {
    long offset = 4 * GIB + 4099;
    UnsafeBuffer expected = Bytes.random(1 << 16, 3);
    file.write(offset, expected, 0, 1 << 16);
    file.allocate(6 * GIB, 8192);
    assertThat(file.lengthBytes()).isEqualTo(6 * GIB + 8192);
    UnsafeBuffer read = Bytes.direct(1 << 16);
    file.read(offset, read, 0, 1 << 16);
    assertThat(read).isEqualTo(expected);
    assertThat(file.allocatedBytes()).isLessThan(1 << 20);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void withAndWithoutNativeCallsAlike(boolean nativeCalls) throws IOException {
    FileHandle handle =
        new FileHandle("b", Channels.createNew(temp.resolve("b")), true, nativeCalls);
    UnsafeBuffer expected = Bytes.random(5000, 9);
    handle.write(100, expected, 0, 5000);
    handle.setLength(1 << 20);
    handle.allocate(0, 3 << 20);
    assertThat(handle.lengthBytes()).isEqualTo(3 << 20);
    assertThat(handle.allocatedBytes()).isGreaterThanOrEqualTo(3 << 20);
    UnsafeBuffer read = Bytes.heap(5000);
    handle.read(100, read, 0, 5000);
    assertThat(read).isEqualTo(expected);
    UnsafeBuffer zeros = Bytes.direct((3 << 20) - 5100);
    handle.read(5100, zeros, 0, zeros.capacity());
    assertThat(zeros).isEqualTo(Bytes.direct(zeros.capacity()));
    handle.setLength(1000);
    assertThat(handle.lengthBytes()).isEqualTo(1000);
    if (!nativeCalls) {
      assertThat(handle.punch(0, 4096)).isFalse();
    }
    handle.release();
  }

  @Test
  void interruptedThreadsNeitherFailNorCloseTheFile() {
    UnsafeBuffer buffer = Bytes.direct(4096);
    file.allocate(0, 1 << 16);
    for (int i = 0; i < 1000; i++) {
      Thread.currentThread().interrupt();
      file.write(4096, buffer, 0, 4096);
      file.read(4096, buffer, 0, 4096);
      file.force();
      file.map(8192, true).close();
      assertThat(file.lengthBytes()).isEqualTo(1 << 16);
      assertThat(Thread.interrupted()).as("the interruption is kept").isTrue();
    }
  }

  @Test
  void interruptionsInTheMiddleOfCallsDoNoHarm() throws InterruptedException {
    UnsafeBuffer buffer = Bytes.direct(1 << 16);
    file.allocate(0, 1 << 20);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread worker =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < 1000; i++) {
                  file.write(0, buffer, 0, 1 << 16);
                  file.read(0, buffer, 0, 1 << 16);
                  file.map(1 << 16, true).close();
                  if (i % 50 == 0) {
                    file.force();
                  }
                }
              } catch (Throwable e) {
                failure.set(e);
              }
            });
    worker.start();
    long interruptions = 0;
    while (worker.isAlive()) {
      worker.interrupt();
      interruptions++;
    }
    worker.join();
    assertThat(failure.get()).isNull();
    assertThat(interruptions).isGreaterThan(1000);
    file.read(0, buffer, 0, 1 << 16);
  }

  @Test
  void closedIsTyped() {
    file.close();
    file.close();
    for (Runnable call :
        List.<Runnable>of(
            file::lengthBytes,
            file::allocatedBytes,
            file::force,
            () -> file.allocate(0, 1),
            () -> file.punch(0, 4096),
            () -> file.setLength(1),
            () -> file.read(0, Bytes.heap(1), 0, 1),
            () -> file.write(0, Bytes.heap(1), 0, 1),
            () -> file.map(1, true))) {
      assertThatThrownBy(call::run).isInstanceOf(ClosedException.class);
    }
  }

  @Test
  void aFileForReadingCannotBeWritten() {
    file.write(0, Bytes.random(10, 1), 0, 10);
    try (StoreFile readOnly = directory.openReadOnly("a")) {
      assertThatThrownBy(() -> readOnly.write(0, Bytes.heap(1), 0, 1))
          .isInstanceOf(InvalidArgumentException.class);
      assertThatThrownBy(() -> readOnly.setLength(1)).isInstanceOf(InvalidArgumentException.class);
      assertThatThrownBy(() -> readOnly.allocate(0, 1))
          .isInstanceOf(InvalidArgumentException.class);
      assertThatThrownBy(() -> readOnly.punch(0, 4096))
          .isInstanceOf(InvalidArgumentException.class);
      assertThatThrownBy(() -> readOnly.map(20, true)).isInstanceOf(InvalidArgumentException.class);
    }
    assertThat(file.lengthBytes()).isEqualTo(10);
  }
}
