package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.error.ClosedException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.StoreIoException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RealDirectoryTest {
  @TempDir Path temp;

  /** Makes a store and prints the mode of all in it. */
  static final class Modes {
    public static void main(String[] arguments) throws IOException {
      Path path = Path.of(arguments[0]);
      try (RealDirectory directory = RealDirectory.openForWriting(path, true)) {
        directory.lock();
        directory.traits();
        directory.create("a.seg").close();
        directory.create("quarantine/b.seg").close();
      }
      try (Stream<Path> all = Files.walk(path)) {
        for (Path each : (Iterable<Path>) all.sorted()::iterator) {
          String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(each));
          System.out.println(mode + " " + path.getParent().relativize(each));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"umask 0", "umask 022"})
  void nobodyElseCanRead(String umask) {
    ForkedJvm.Result result =
        ForkedJvm.runIn(umask, true, Modes.class, temp.resolve("store").toString());

    assertThat(result.output().lines())
        .containsExactly(
            "rwx------ store",
            "rw------- store/LOCK",
            "rw------- store/a.seg",
            "rwx------ store/quarantine",
            "rw------- store/quarantine/b.seg");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void makesMissingParents() {
    Path deep = temp.resolve("a/b/c");
    try (RealDirectory directory = RealDirectory.openForWriting(deep, true)) {
      assertThat(directory.list()).isEmpty();
    }
    assertThat(deep).isDirectory();
  }

  /** As a backup leaves them; what is not the store's stays as it is. */
  @Test
  void aWriterClosesToOthersWhatCameOpen() throws IOException {
    Path store = Files.createDirectory(temp.resolve("store"));
    for (String name : new String[] {"CURRENT", "append-1.seg", "mine"}) {
      Files.createFile(store.resolve(name));
      Files.setPosixFilePermissions(
          store.resolve(name), PosixFilePermissions.fromString("rw-r--r--"));
    }
    Files.setPosixFilePermissions(store, PosixFilePermissions.fromString("rwxr-xr-x"));
    RealDirectory.openForWriting(store, true).close();
    assertThat(mode(store)).isEqualTo("rwxr-xr-x");
    try (RealDirectory directory = RealDirectory.openForWriting(store, true)) {
      directory.lock();
    }
    assertThat(mode(store)).isEqualTo("rwx------");
    assertThat(mode(store.resolve("CURRENT"))).isEqualTo("rw-------");
    assertThat(mode(store.resolve("append-1.seg"))).isEqualTo("rw-------");
    assertThat(mode(store.resolve("mine"))).isEqualTo("rw-r--r--");
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @ParameterizedTest
  @ValueSource(strings = {"mine", ".hidden", "append-x.seg", "folder/"})
  void nobodyElsesDirectoryIsTakenOver(String entry) throws IOException {
    Path path = Files.createDirectory(temp.resolve("theirs"));
    if (entry.endsWith("/")) {
      Files.createDirectory(path.resolve(entry));
    } else {
      Files.createFile(path.resolve(entry));
    }
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThatThrownBy(
            () -> SnapshotStore.open(path, StoreOptions.builder().quota("64MiB").build()))
        .isInstanceOf(NotAStoreException.class)
        .hasMessageContaining("holds something else");
    assertThat(mode(path)).isEqualTo("rwxr-xr-x");
    try (Stream<Path> all = Files.list(path)) {
      assertThat(all.count()).isEqualTo(1);
    }
    Files.delete(path.resolve(entry));
    Files.createDirectory(path.resolve("lost+found"));
    SnapshotStore.open(path, StoreOptions.builder().quota("64MiB").build()).close();
    assertThat(mode(path)).isEqualTo("rwx------");
  }

  @Test
  void missingDirectoryIsNotAStore() throws IOException {
    Path missing = temp.resolve("missing");
    assertThatThrownBy(() -> RealDirectory.openForWriting(missing, false))
        .isInstanceOf(NotAStoreException.class);
    assertThatThrownBy(() -> RealDirectory.openReadOnly(missing))
        .isInstanceOf(NotAStoreException.class);
    assertThat(missing).doesNotExist();

    Path file = Files.createFile(temp.resolve("file"));
    assertThatThrownBy(() -> RealDirectory.openForWriting(file, true))
        .isInstanceOf(NotAStoreException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", ".", "..", "../x", "/etc/passwd", "a/b", "quarantine", "quarantine/", "quarantine/..",
        "quarantine/../x", "quarantine/a/b", "a\0b", "a b", "-x", ".x", "a\\b", "ü", "LOCK"
      })
  void refusesNamesThatLeadElsewhere(String name) {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false);
        StoreFile there = directory.create("there")) {
      assertThat(there.lengthBytes()).isZero();
      List<Runnable> calls =
          List.of(
              () -> directory.create(name),
              () -> directory.open(name),
              () -> directory.openReadOnly(name),
              () -> directory.delete(name),
              () -> directory.rename(name, "x"),
              () -> directory.rename("there", name));
      for (Runnable call : calls) {
        assertThatThrownBy(call::run).isInstanceOf(InvalidArgumentException.class);
      }
      assertThat(directory.list()).containsExactly("there");
    }
  }

  @Test
  void refusesAVeryLongName() {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false)) {
      assertThatThrownBy(() -> directory.create("x".repeat(201)))
          .isInstanceOf(InvalidArgumentException.class);
    }
  }

  @Test
  void listsRegularFilesOnly() throws IOException {
    Files.createDirectory(temp.resolve("other"));
    Files.createFile(temp.resolve("other/inside"));
    Files.createSymbolicLink(temp.resolve("link"), temp.resolve("b"));
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false)) {
      directory.create("b").close();
      directory.create("quarantine/c").close();
      directory.create("a").close();
      assertThat(directory.list()).containsExactly("a", "b", "quarantine/c");
      assertThat(directory.exists("a")).isTrue();
      assertThat(directory.exists("quarantine/c")).isTrue();
      assertThat(directory.exists("link")).isFalse();
      assertThat(directory.exists("none")).isFalse();
    }
  }

  @Test
  void refusesLinksPipesAndDirectoriesInPlaceOfFiles() throws Exception {
    Path outside = Files.createFile(temp.resolve("outside"));
    Path store = Files.createDirectory(temp.resolve("store"));
    Files.createSymbolicLink(store.resolve("link"), outside);
    Files.createDirectory(store.resolve("sub"));
    Files.createSymbolicLink(store.resolve("quarantine"), temp);
    List<String> names = new ArrayList<>(List.of("link", "sub", "quarantine/outside"));
    if (new ProcessBuilder("mkfifo", store.resolve("pipe").toString()).start().waitFor() == 0) {
      names.add("pipe");
    }
    try (RealDirectory directory = RealDirectory.openForWriting(store, false)) {
      for (String name : names) {
        assertThatThrownBy(() -> directory.open(name)).isInstanceOf(StoreIoException.class);
        assertThatThrownBy(() -> directory.openReadOnly(name)).isInstanceOf(StoreIoException.class);
        assertThatThrownBy(() -> directory.create(name)).isInstanceOf(StoreIoException.class);
        assertThatThrownBy(() -> directory.delete(name)).isInstanceOf(StoreIoException.class);
      }
      assertThatThrownBy(() -> directory.create("quarantine/new"))
          .isInstanceOf(StoreIoException.class);
    }
    assertThat(outside).exists();
    assertThat(temp.resolve("new")).doesNotExist();
  }

  @Test
  void aLinkToTheDirectoryItselfIsFollowedOnce() throws IOException {
    Path store = Files.createDirectory(temp.resolve("store"));
    Path link = Files.createSymbolicLink(temp.resolve("link"), store);
    try (RealDirectory directory = RealDirectory.openForWriting(link, true)) {
      Files.delete(link);
      directory.create("a").close();
    }
    assertThat(store.resolve("a")).exists();
  }

  @Test
  void createFailsWhereAFileIs() {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false)) {
      directory.create("a").close();
      assertThatThrownBy(() -> directory.create("a"))
          .isInstanceOf(StoreIoException.class)
          .hasMessageContaining("in a");
    }
  }

  @Test
  void missingFilesAreTyped() {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false)) {
      for (Runnable call :
          List.<Runnable>of(
              () -> directory.open("a"),
              () -> directory.openReadOnly("a"),
              () -> directory.delete("a"),
              () -> directory.rename("a", "b"))) {
        assertThatThrownBy(call::run)
            .isInstanceOf(StoreIoException.class)
            .hasMessageContaining("no such file");
      }
    }
  }

  @Test
  void renameReplaces() {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false)) {
      try (StoreFile a = directory.create("a")) {
        a.write(0, Bytes.random(10, 1), 0, 10);
      }
      directory.create("b").close();
      directory.rename("a", "b");
      directory.rename("b", "quarantine/b");
      directory.force();
      assertThat(directory.list()).containsExactly("quarantine/b");
      try (StoreFile b = directory.openReadOnly("quarantine/b")) {
        assertThat(b.lengthBytes()).isEqualTo(10);
      }
    }
  }

  @Test
  void countsWhatTheFileSystemAllocated() throws IOException {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false);
        StoreFile a = directory.create("a");
        StoreFile b = directory.create("quarantine/b")) {
      a.allocate(0, 1 << 20);
      b.setLength(1L << 30);
      long blocks = 512L * (blocks(temp.resolve("a")) + blocks(temp.resolve("quarantine/b")));
      assertThat(directory.allocatedBytes()).isEqualTo(blocks).isGreaterThanOrEqualTo(1 << 20);
      assertThat(directory.allocatedBytes()).isEqualTo(a.allocatedBytes() + b.allocatedBytes());
    }
  }

  @Test
  void readingOnlyChangesNothing() throws IOException {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false)) {
      directory.lock();
      try (StoreFile a = directory.create("a")) {
        a.write(0, Bytes.random(8192, 7), 0, 8192);
      }
    }
    List<String> before = snapshot();
    try (RealDirectory directory = RealDirectory.openReadOnly(temp);
        StoreFile a = directory.openReadOnly("a");
        MappedRegion map = a.map(8192, false)) {
      assertThat(directory.list()).containsExactly("LOCK", "a");
      assertThat(directory.allocatedBytes()).isPositive();
      assertThat(directory.traits().canMap()).isTrue();
      map.get(0, Bytes.heap(8192), 0, 8192);
      for (Runnable call :
          List.<Runnable>of(
              () -> directory.create("b"),
              () -> directory.open("a"),
              () -> directory.rename("a", "b"),
              () -> directory.delete("a"),
              directory::force,
              directory::lock)) {
        assertThatThrownBy(call::run).isInstanceOf(InvalidArgumentException.class);
      }
    }
    assertThat(snapshot()).isEqualTo(before);
  }

  @Test
  void probesOnceAndLeavesNothing() {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false)) {
      assertThat(directory.traits()).isSameAs(directory.traits());
      assertThat(directory.list()).isEmpty();
      assertThat(directory.usableBytes()).isPositive();
    }
    try (RealDirectory directory = RealDirectory.openForWriting(temp, false, Mapping.POSITIONAL)) {
      assertThat(directory.traits().canMap()).isFalse();
    }
  }

  @Test
  void closedIsTyped() {
    RealDirectory directory = RealDirectory.openForWriting(temp, false);
    directory.close();
    directory.close();
    assertThatThrownBy(directory::list).isInstanceOf(ClosedException.class);
    assertThatThrownBy(directory::force).isInstanceOf(ClosedException.class);
    assertThatThrownBy(() -> directory.create("a")).isInstanceOf(ClosedException.class);
    assertThatThrownBy(directory::allocatedBytes).isInstanceOf(ClosedException.class);
  }

  private static long blocks(Path file) throws IOException {
    Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
    return Long.parseLong(
        new String(stat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).trim());
  }

  private List<String> snapshot() throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> all = Files.walk(temp)) {
      for (Path each : (Iterable<Path>) all.sorted()::iterator) {
        found.add(each + " " + Files.size(each) + " " + Files.getLastModifiedTime(each));
      }
    }
    return found;
  }
}
