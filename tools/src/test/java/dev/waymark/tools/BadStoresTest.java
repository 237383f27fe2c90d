package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.waymark.SnapshotStore;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What each verb says of directories that it cannot use, and leaves as they are. */
class BadStoresTest {
  @TempDir Path dir;
  private Path tokens;

  @BeforeEach
  void writeTokens() throws IOException {
    tokens = Files.writeString(dir.resolve("tokens"), "[1, 2, 3]");
  }

  static Set<String> verbs() {
    return Verbs.all();
  }

  static Set<String> inspecting() {
    return Verbs.INSPECTING.keySet();
  }

  static Set<String> writing() {
    return Verbs.WRITING.keySet();
  }

  @Test
  void everyVerbIsTried() {
    Set<String> tried =
        Verbs.all().stream()
            .map(verb -> verb.replaceFirst(" .*", ""))
            .collect(Collectors.toCollection(TreeSet::new));
    tried.addAll(Verbs.OTHERS);

    assertThat(tried).containsAll(Segtool.commandLine().getSubcommands().keySet());
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneThatIsMissing(String verb) {
    Path missing = dir.resolve("missing");

    requireFailure(run(verb, missing), 1, "NOT_A_STORE", missing.toString(), "; ");
    assertThat(missing).doesNotExist();
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneThatIsNoStore(String verb) throws IOException {
    Path other = Files.createDirectory(dir.resolve("other"));
    Files.writeString(other.resolve("notes.txt"), "not a store");

    requireFailure(run(verb, other), 1, "NOT_A_STORE", other.toString(), "; ");
    assertThat(other)
        .isDirectoryContaining("glob:**notes.txt")
        .isDirectoryNotContaining("glob:**LOCK");
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneThatIsAFile(String verb) throws IOException {
    Path file = Files.writeString(dir.resolve("file"), "not a directory");

    requireFailure(run(verb, file), 1, "NOT_A_STORE", file.toString(), "; ");
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneOfANewerFormat(String verb) throws IOException {
    Path store = ToyStore.make(dir.resolve("store"), 1);
    raise(store, new FormatVersions(2, 2));
    TreeMap<String, String> before = contents(store);

    if (verb.startsWith("repair")) {
      // It rests on the segments alone, which are of this version.
      return;
    }
    requireFailure(run(verb, store), 6, "UNSUPPORTED_FORMAT", store.toString(), "newer version");
    TreeMap<String, String> after = contents(store);
    if (Verbs.WRITING.containsKey(verb)) {
      before.remove("LOCK"); // which says who held it last
      after.remove("LOCK");
    }
    assertThat(after).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneThatOnlyANewerVersionMayWrite(String verb) throws IOException {
    Path store = ToyStore.make(dir.resolve("store"), 1);
    raise(store, new FormatVersions(1, 2));

    Run run = run(verb, store);

    if (verb.startsWith("repair")) {
      return;
    }
    assertThat(run.exitCode()).as(run.err()).isEqualTo(Verbs.WRITING.containsKey(verb) ? 6 : 0);
  }

  /** Permissions do not bind root: a stage runs this again without that privilege. */
  @ParameterizedTest
  @MethodSource("verbs")
  void oneThatIsReadOnly(String verb) throws IOException {
    Path store = ToyStore.make(dir.resolve("store"), 1);
    try {
      permit(store, "r--------", "r-x------");
      assumeThat(Files.isWritable(store)).isFalse();

      Run run = run(verb, store);

      if (Verbs.WRITING.containsKey(verb)) {
        requireFailure(run, 1, "IO_FAILURE", store.toString(), "permission denied", "; ");
      } else {
        assertThat(run.exitCode()).as(run.err()).isZero();
      }
    } finally {
      permit(store, "rw-------", "rwx------");
    }
  }

  private static void permit(Path store, String file, String directory) throws IOException {
    Files.setPosixFilePermissions(store, PosixFilePermissions.fromString("rwx------"));
    try (Stream<Path> files = Files.list(store)) {
      for (Path each : files.toList()) {
        Files.setPosixFilePermissions(each, PosixFilePermissions.fromString(file));
      }
    }
    Files.setPosixFilePermissions(store, PosixFilePermissions.fromString(directory));
  }

  @ParameterizedTest
  @MethodSource("writing")
  void oneThatIsLocked(String verb) {
    Path path = dir.resolve("store");
    try (SnapshotStore store = ToyStore.open(path)) {
      ToyStore.serve(store, 1, 100);
      store.flush();

      requireFailure(run(verb, path), 5, "STORE_LOCKED", path.toString(), "; ");
    }
  }

  @ParameterizedTest
  @MethodSource("inspecting")
  void looksAtAGoodStoreAndWritesNothing(String verb) throws IOException {
    Path store = ToyStore.make(dir.resolve("store"), 3);
    TreeMap<String, String> before = contents(store);
    FileTime changed = Files.getLastModifiedTime(store);

    Run run = run(verb, store);

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).isNotEmpty();
    assertThat(contents(store)).isEqualTo(before);
    assertThat(Files.getLastModifiedTime(store)).isEqualTo(changed);
  }

  @ParameterizedTest
  @MethodSource("inspecting")
  void endsWellWhenItsReaderGoesAway(String verb) {
    Path store = ToyStore.make(dir.resolve("store"), 3);

    Run run = Run.into(new GoneReader(), Verbs.arguments(verb, store, tokens));

    assertThat(run.exitCode()).isZero();
    assertThat(run.err()).isEmpty();
  }

  private Run run(String verb, Path store) {
    return Run.of(Verbs.arguments(verb, store, tokens));
  }

  private static void requireFailure(Run run, int exitCode, String... parts) {
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(exitCode);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().strip()).startsWith("segtool: ").contains(parts).doesNotContain("\n");
  }

  private static void raise(Path store, FormatVersions versions) {
    try (StoreDirectory directory = RealDirectory.openForWriting(store, false)) {
      Current current = CurrentFile.read(directory);
      CurrentFile.write(directory, new Current(current.storeId(), current.manifestId(), versions));
    }
  }

  private static TreeMap<String, String> contents(Path store) throws IOException {
    TreeMap<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.list(store)) {
      for (Path file : files.toList()) {
        contents.put(
            file.getFileName().toString(),
            Files.getLastModifiedTime(file) + " " + Arrays.hashCode(Files.readAllBytes(file)));
      }
    }
    return contents;
  }
}
