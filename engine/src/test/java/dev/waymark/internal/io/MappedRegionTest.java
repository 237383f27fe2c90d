package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.error.ClosedException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.StoreIoException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MappedRegionTest {
  private static final long GIB = 1L << 30;
  private static final Path MAPS = Path.of("/proc/self/maps");
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  @TempDir Path temp;

  @ParameterizedTest
  @EnumSource(Mapping.class)
  void roundTripsBetweenMapAndFile(Mapping mapping) {
    int length = (2 << 20) + 4099;
    UnsafeBuffer expected = Bytes.random(length, 1);
    UnsafeBuffer direct = Bytes.direct(length);
    direct.putBytes(0, expected, 0, length);
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false, mapping);
        StoreFile file = directory.create("a")) {
      file.allocate(0, 4 << 20);
      try (MappedRegion region = file.map(4 << 20, true)) {
        assertThat(region.lengthBytes()).isEqualTo(4 << 20);
        region.put(5, expected, 0, 100);
        region.put(105, direct, 100, length - 100);
        region.force(100, length);
        region.force(0, 0);
        UnsafeBuffer read = Bytes.heap(length);
        file.read(5, read, 0, length);
        assertThat(read).isEqualTo(expected);

        file.write(4000, expected, 0, 5000);
        region.get(4000, read, 7, 5000);
        assertThat(new UnsafeBuffer(read, 7, 5000)).isEqualTo(new UnsafeBuffer(expected, 0, 5000));
        UnsafeBuffer target = Bytes.direct(5000);
        region.get(4000, target, 0, 5000);
        assertThat(target).isEqualTo(new UnsafeBuffer(expected, 0, 5000));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Mapping.class)
  void outlivesTheFile(Mapping mapping) {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false, mapping)) {
      StoreFile file = directory.create("a");
      file.allocate(0, 8192);
      MappedRegion region = file.map(8192, true);
      directory.delete("a");
      file.close();
      region.put(0, Bytes.random(8192, 4), 0, 8192);
      region.force(0, 8192);
      UnsafeBuffer read = Bytes.heap(8192);
      region.get(0, read, 0, 8192);
      assertThat(read).isEqualTo(Bytes.random(8192, 4));
      region.close();
      region.close();
      assertThatThrownBy(() -> region.get(0, read, 0, 1)).isInstanceOf(ClosedException.class);
      assertThatThrownBy(() -> region.put(0, read, 0, 1)).isInstanceOf(ClosedException.class);
      assertThatThrownBy(() -> region.force(0, 1)).isInstanceOf(ClosedException.class);
    }
  }

  @ParameterizedTest
  @EnumSource(Mapping.class)
  void extendsToExactlyItsLengthAndOnlyForWriting(Mapping mapping) {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false, mapping);
        StoreFile file = directory.create("a")) {
      file.map(10_001, true).close();
      assertThat(file.lengthBytes()).isEqualTo(10_001);
      file.map(5_000, true).close();
      assertThat(file.lengthBytes()).isEqualTo(10_001);
      try (MappedRegion region = file.map(20_000, false)) {
        assertThat(file.lengthBytes()).isEqualTo(10_001);
        region.get(0, Bytes.heap(10_001), 0, 10_001);
        assertThatThrownBy(() -> region.get(16_384, Bytes.heap(10), 0, 10))
            .isInstanceOf(StoreIoException.class);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Mapping.class)
  void refusesWhatIsOutside(Mapping mapping) {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false, mapping);
        StoreFile file = directory.create("a")) {
      file.allocate(0, 8192);
      assertThatThrownBy(() -> file.map(0, true)).isInstanceOf(InvalidArgumentException.class);
      assertThatThrownBy(() -> file.map(-1, true)).isInstanceOf(InvalidArgumentException.class);
      UnsafeBuffer buffer = Bytes.heap(100);
      try (MappedRegion region = file.map(8192, true);
          MappedRegion readOnly = file.map(8192, false)) {
        for (Runnable call :
            List.<Runnable>of(
                () -> region.get(8100, buffer, 0, 100),
                () -> region.get(-1, buffer, 0, 100),
                () -> region.get(Long.MAX_VALUE, buffer, 0, 100),
                () -> region.get(0, buffer, 1, 100),
                () -> region.put(8100, buffer, 0, 100),
                () -> region.put(0, buffer, -1, 10),
                () -> region.put(0, buffer, 0, -1),
                () -> region.force(8192, 1),
                () -> readOnly.put(0, buffer, 0, 1))) {
          assertThatThrownBy(call::run).isInstanceOf(InvalidArgumentException.class);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Mapping.class)
  void offsetsBeyondFourGibibytes(Mapping mapping) {
    UnsafeBuffer expected = Bytes.random(1 << 16, 3);
    UnsafeBuffer read = Bytes.direct(1 << 16);
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false, mapping);
        StoreFile file = directory.create("a");
        MappedRegion region = file.map(5 * GIB + 1, true)) {
      for (long offset : new long[] {2 * GIB - 1000, 4 * GIB - 1000, 5 * GIB + 1 - (1 << 16)}) {
        file.allocate(offset, 1 << 16);
        region.put(offset, expected, 0, 1 << 16);
        region.force(offset, 1 << 16);
        file.read(offset, read, 0, 1 << 16);
        assertThat(read).isEqualTo(expected);
        region.get(offset, read, 0, 1 << 16);
        assertThat(read).isEqualTo(expected);
      }
      assertThat(file.lengthBytes()).isEqualTo(5 * GIB + 1);
      assertThat(file.allocatedBytes()).isLessThan(1 << 20);
    }
  }

  @Test
  void closeUnmapsBeforeItReturnsAndKeepsNoDescriptor() throws IOException {
    assumeTrue(Files.exists(MAPS), "needs /proc/self/maps");
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false);
        StoreFile file = directory.create("a")) {
      file.allocate(0, 1 << 20);
      for (int i = 0; i < 200; i++) {
        MappedRegion region = file.map(1 << 20, true);
        assertThat(mapsOf("a")).isEqualTo(1);
        assertThat(descriptorsOf("a")).isEqualTo(1);
        region.close();
        assertThat(mapsOf("a")).isZero();
      }
    }
    assertThat(descriptorsOf("a")).isZero();
  }

  @Test
  void noRoomForAMapIsTyped() {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false);
        StoreFile file = directory.create("a")) {
      file.allocate(0, 4096);
      assertThatThrownBy(() -> file.map(1L << 50, false))
          .isInstanceOf(StoreIoException.class)
          .hasMessageContaining("max_map_count");
      assertThat(file.lengthBytes()).isEqualTo(4096);
    }
  }

  @Test
  void aMapThatCannotBeMadeKeepsNoDescriptor() throws IOException {
    assumeTrue(Files.exists(DESCRIPTORS), "needs /proc/self/fd");
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false);
        StoreFile file = directory.create("a")) {
      file.allocate(0, 4096);
      for (int i = 0; i < 20; i++) {
        assertThatThrownBy(() -> file.map(1L << 50, false)).isInstanceOf(StoreIoException.class);
        assertThat(descriptorsOf("a")).isEqualTo(1);
      }
    }
  }

  /** A tmpfs lets a file be longer than any map can be. */
  @ParameterizedTest
  @EnumSource(
      value = Mapping.class,
      names = {"MAPPED", "MAPPED_READS"})
  void aWritableMapThatCannotBeMadeKeepsNoDescriptor(Mapping mapping) throws IOException {
    Path memory = Path.of("/dev/shm");
    assumeTrue(Files.exists(DESCRIPTORS), "needs /proc/self/fd");
    assumeTrue(Files.isWritable(memory), "needs /dev/shm");
    Path shared = Files.createTempDirectory(memory, "waymark");
    try (RealDirectory directory = RealDirectory.openForWriting(shared, false, mapping)) {
      StoreFile file = directory.create("a");
      file.setLength(1L << 50);
      assertThatThrownBy(() -> file.map(1L << 50, true))
          .isInstanceOf(StoreIoException.class)
          .hasMessageContaining("max_map_count");
      file.close();
      assertThat(descriptorsOf(shared.resolve("a"))).isZero();
    } finally {
      Files.deleteIfExists(shared.resolve("a"));
      Files.deleteIfExists(shared.resolve(StoreNames.LOCK));
      Files.delete(shared);
    }
  }

  @Test
  void anotherFileThatTookTheNameIsNotMapped() {
    assumeTrue(Files.exists(DESCRIPTORS), "needs /proc/self/fd");
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false);
        StoreFile first = directory.create("a")) {
      first.write(0, Bytes.random(4096, 1), 0, 4096);
      directory.delete("a");
      try (StoreFile second = directory.create("a");
          MappedRegion region = first.map(4096, true)) {
        UnsafeBuffer read = Bytes.heap(4096);
        region.get(0, read, 0, 4096);
        assertThat(read).isEqualTo(Bytes.random(4096, 1));
        assertThat(second.lengthBytes()).isZero();
      }
    }
  }

  private long mapsOf(String name) throws IOException {
    try (Stream<String> lines = Files.lines(MAPS)) {
      return lines.filter(line -> line.contains(temp.resolve(name).toString())).count();
    }
  }

  private long descriptorsOf(String name) throws IOException {
    return descriptorsOf(temp.resolve(name));
  }

  private static long descriptorsOf(Path file) throws IOException {
    long found = 0;
    try (Stream<Path> all = Files.list(DESCRIPTORS)) {
      for (Path each : (Iterable<Path>) all::iterator) {
        try {
          found += Files.readSymbolicLink(each).equals(file) ? 1 : 0;
        } catch (IOException e) {
          assertThat(each).as("closed since it was listed").doesNotExist();
        }
      }
    }
    return found;
  }
}
