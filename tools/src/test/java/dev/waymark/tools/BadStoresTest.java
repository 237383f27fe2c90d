package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreInspector;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What each verb says of directories that it cannot use, and leaves as they are. */
class BadStoresTest {
  /** Verbs that say how the whole store is; the others only use what counts of it. */
  private static final Set<String> TORN_IS_THE_ANSWER =
      Set.of(
          "inspect",
          "inspect --boundaries",
          "inspect --namespace",
          "inspect --segment",
          "ls",
          "tree",
          "tree --all",
          "verify",
          "verify --level");

  @TempDir Path dir;
  private static byte[] archive;
  private Path tokens;

  @BeforeAll
  static void export(@TempDir Path dir) throws IOException {
    Path store = ToyStore.make(dir.resolve("store"), 1);
    Path file = dir.resolve("archive");
    assertThat(Run.of("export", store, "-o", file).exitCode()).isZero();
    archive = Files.readAllBytes(file);
  }

  @BeforeEach
  void writeTokens() throws IOException {
    tokens = Files.writeString(dir.resolve("tokens"), "[1, 2, 3]");
    Files.write(dir.resolve("archive.wmka"), archive);
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
  void oneThatIsMissing(String verb) throws IOException {
    Path missing = dir.resolve("missing");

    requireFailure(verb, missing, 1, "NOT_A_STORE", missing.toString(), "; ");
    assertThat(missing).doesNotExist();
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneThatIsEmpty(String verb) throws IOException {
    Path empty = Files.createDirectory(dir.resolve("empty"));

    requireFailure(verb, empty, 1, "NOT_A_STORE", empty.toString(), "; ");
    assertThat(empty).isEmptyDirectory();
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneThatIsNoStore(String verb) throws IOException {
    Path other = Files.createDirectory(dir.resolve("other"));
    Files.writeString(other.resolve("notes.txt"), "not a store");

    requireFailure(verb, other, 1, "NOT_A_STORE", other.toString(), "; ");
    assertThat(other)
        .isDirectoryContaining("glob:**notes.txt")
        .isDirectoryNotContaining("glob:**LOCK");
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneThatIsAFile(String verb) throws IOException {
    Path file = Files.writeString(dir.resolve("file"), "not a directory");

    requireFailure(verb, file, 1, "NOT_A_STORE", file.toString(), "; ");
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
    requireFailure(verb, store, 6, "UNSUPPORTED_FORMAT", store.toString(), "newer version");
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
  void oneThatIsLocked(String verb) throws IOException {
    Path path = dir.resolve("store");
    try (SnapshotStore store = ToyStore.open(path)) {
      ToyStore.serve(store, 1, 100);
      store.flush();

      requireFailure(verb, path, 5, "STORE_LOCKED", path.toString(), "; ");
    }
  }

  @Test
  void oneThatAnotherProcessHasOpenOrHadUntilItWasKilled() throws Exception {
    Path store = ToyStore.make(dir.resolve("store"), 2);
    Process holder =
        JavaProcess.of(Holder.class.getName(), store)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said =
        new BufferedReader(
            new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(said.readLine()).isEqualTo("open");
      for (String verb : Verbs.WRITING.keySet()) {
        requireFailure(verb, store, 5, "STORE_LOCKED", "process " + holder.pid());
      }
      for (String verb : Verbs.INSPECTING.keySet()) {
        assertThat(run(verb, store).exitCode()).as(verb).isZero();
      }
    } finally {
      holder.destroyForcibly().waitFor();
    }
    for (String verb : Verbs.WRITING.keySet()) {
      assertThat(run(verb, store).exitCode()).as(verb).isEqualTo(fine(verb));
    }
  }

  /** Holds a store open until its standard input ends. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws IOException {
      try (SnapshotStore opened = ToyStore.open(Path.of(arguments[0]))) {
        System.out.println("open");
        while (System.in.read() >= 0) {
          // nothing is ever sent
        }
      }
    }
  }

  /** A byte of a tensor changed: who reads it says so, and everyone else does not notice. */
  @ParameterizedTest
  @MethodSource("verbs")
  void oneWithADamagedSegment(String verb) throws IOException {
    Path store = ToyStore.make(dir.resolve("store"), 2);
    StoreInspector look = StoreInspector.open(store);
    StoreInspector.RecordReport record = look.records(look.segments().get(0).id()).get(0);
    flip(store.resolve(record.file()), record.offsetBytes() + record.lengthBytes() / 2);

    Run run = run(verb, store);

    boolean reads = verb.startsWith("verify") || verb.startsWith("repair") || verb.equals("export");
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(reads ? 3 : fine(verb));
    assertThat(run.err()).doesNotContain("\tat ", "BUG").satisfies(BadStoresTest::requireOneLine);
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void oneWithATornManifest(String verb) throws IOException {
    Path store = tear(ToyStore.make(dir.resolve("store"), 2));

    Run run = run(verb, store);

    assertThat(run.exitCode())
        .as(run.out() + run.err())
        .isEqualTo(TORN_IS_THE_ANSWER.contains(verb) ? 4 : fine(verb));
    assertThat(run.err()).isEmpty();
  }

  static Path tear(Path store) throws IOException {
    try (Stream<Path> files = Files.list(store)) {
      Path manifest =
          files.filter(f -> f.getFileName().toString().startsWith("manifest-")).findFirst().get();
      Files.write(manifest, new byte[] {1, 2, 3, 4, 5, 6, 7, 8}, StandardOpenOption.APPEND);
    }
    return store;
  }

  /** What a verb ends with where nothing is wrong: nothing is kept as none. */
  private static int fine(String verb) {
    return verb.equals("pin --release") ? 1 : 0;
  }

  private static void flip(Path path, long at) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.seek(at);
      int before = file.read();
      file.seek(at);
      file.write(before ^ 1);
    }
  }

  private static void requireOneLine(String err) {
    assertThat(err.strip()).doesNotContain("\n");
  }

  @ParameterizedTest
  @MethodSource("inspecting")
  void looksAtAGoodStoreAndWritesNothing(String verb) throws IOException {
    Path store = ToyStore.make(dir.resolve("store"), 3);
    TreeMap<String, String> before = contents(store);
    FileTime changed = Files.getLastModifiedTime(store);

    Run run = run(verb, store);

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).isNotEmpty().doesNotContain("\033", "\r");
    assertThat(run.err()).isEmpty();
    assertThat(contents(store)).isEqualTo(before);
    assertThat(Files.getLastModifiedTime(store)).isEqualTo(changed);
  }

  /** What is torn changes the exit code of those who come to their end. */
  @ParameterizedTest
  @MethodSource("verbs")
  void endsWellWhenItsReaderGoesAway(String verb) throws IOException {
    Path store = tear(ToyStore.make(dir.resolve("store"), 3));

    requireGoodEnd(Verbs.arguments(verb, store, tokens));
  }

  @Test
  void whatIsAboutNoStoreEndsWellToo() throws IOException {
    Path trace =
        Files.writeString(
            dir.resolve("trace"),
            "{\"timestamp\":0,\"input_length\":1024,\"output_length\":1,\"hash_ids\":[1,2]}\n");

    requireGoodEnd("--version");
    requireGoodEnd("help");
    requireGoodEnd("tree", "--help");
    requireGoodEnd("completion", "bash");
    requireGoodEnd("estimate", "--layout", "L9", "--tokens", "100");
    requireGoodEnd("replay", trace, "--layout", "L9");
  }

  private static void requireGoodEnd(Object... arguments) {
    for (boolean json : new boolean[] {false, true}) {
      List<String> texts = new ArrayList<>(Stream.of(arguments).map(Object::toString).toList());
      if (json && !texts.contains("--force") && texts.get(0).matches("[a-z]+")) {
        texts.add("--json");
      }
      ByteArrayOutputStream err = new ByteArrayOutputStream();
      PrintStream gone =
          new PrintStream(
              new OutputStream() {
                @Override
                public void write(int b) throws IOException {
                  throw new IOException("Broken pipe");
                }
              });

      int code = Main.run(texts.toArray(String[]::new), gone, new PrintStream(err));

      assertThat(err.toString(StandardCharsets.UTF_8))
          .as("%s", texts)
          .doesNotContain("BUG", "\tat ", "Broken pipe");
      // That nothing is kept under a name is an answer, and one that may still be given.
      assertThat(code).as("%s", texts).isIn(0, texts.contains("--release") ? 1 : 0);
    }
  }

  private Run run(String verb, Path store) {
    return Run.of(Verbs.arguments(verb, store, tokens));
  }

  /** In one sentence, and as an object for programs. */
  private void requireFailure(String verb, Path store, int exitCode, String code, String... parts)
      throws IOException {
    requireFailure(run(verb, store), exitCode, code, parts);
    List<Object> arguments = new ArrayList<>(List.of(Verbs.arguments(verb, store, tokens)));
    arguments.add("--json");
    Run json = Run.of(arguments.toArray());
    JsonNode said = new ObjectMapper().readTree(json.out());
    JsonNode error = said.path("error");
    assertThat(json.exitCode()).as(json.out() + json.err()).isEqualTo(exitCode);
    assertThat(json.err()).isEmpty();
    assertThat(said.path("output_version").asInt()).isEqualTo(1);
    assertThat(said.path("command").asText()).isEqualTo(arguments.get(0));
    assertThat(error.path("code").asText()).isEqualTo(code);
    assertThat(error.path("exit_code").asInt()).isEqualTo(exitCode);
    assertThat(error.path("message").asText()).contains(store.toString()).doesNotContain("\n");
    assertThat(error.path("remedy").asText()).isNotEmpty();
  }

  private static void requireFailure(Run run, int exitCode, String code, String... parts) {
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(exitCode);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().strip())
        .startsWith("segtool: " + code)
        .contains(parts)
        .doesNotContain("\n");
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
