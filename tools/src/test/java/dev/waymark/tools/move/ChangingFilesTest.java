package dev.waymark.tools.move;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreReader;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.tools.Progress;
import dev.waymark.tools.Run;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that someone changes between the look at them and the moment when they are stored. */
class ChangingFilesTest {
  private static final Layout LAYOUT = MadeState.mixed(8);

  @TempDir Path dir;
  private Path archive;
  private Path point;

  @BeforeEach
  void export() {
    Path source = dir.resolve("source");
    try (SnapshotStore store = open(source)) {
      new MadeState(LAYOUT)
          .store(
              store.namespace(ModelIdentity.builder().weights("w").build(), LAYOUT),
              new Random(3).ints(64, 0, 100).toArray(),
              RestorePolicy.EVERY);
    }
    archive = dir.resolve("a.wmka");
    point = dir.resolve("p.safetensors");
    assertThat(Run.of("export", source, "-o", archive).exitCode()).isZero();
    assertThat(Run.of("export", source, "--deepest", "-o", point).exitCode()).isZero();
  }

  private static SnapshotStore open(Path path) {
    return SnapshotStore.open(path, StoreOptions.builder().quota("64MiB").build());
  }

  private interface Change {
    void make(Path path) throws IOException;
  }

  private static final List<Change> CHANGES =
      List.of(
          path -> Files.write(path, new byte[] {1}, StandardOpenOption.APPEND),
          path -> {
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
              file.setLength(path.toFile().length() / 2);
            }
          },
          path -> {
            Path other = path.resolveSibling("other");
            Files.copy(path, other);
            Files.setLastModifiedTime(other, Files.getLastModifiedTime(path));
            Files.delete(path);
            Files.move(other, path);
          },
          Files::delete);

  @Test
  void whatChangesAfterItWasCheckedIsNotStored() throws IOException {
    for (Path original : List.of(archive, point)) {
      byte[] right = Files.readAllBytes(original);
      for (int i = 0; i < CHANGES.size(); i++) {
        Path file = Files.write(dir.resolve("in" + i), right);
        Path target = dir.resolve("to" + i);
        ImportSource source =
            new SourceDetection(null, null, null, CodecPlan.RAW, false).detect(file);
        source.check(Progress.none());
        CHANGES.get(i).make(file);
        try (SnapshotStore store = open(target)) {
          BadImportException e =
              catchThrowableOfType(
                  BadImportException.class,
                  () -> source.store(store, new ImportTally(), Progress.none()));
          assertThat(e).as("change %s of %s", i, original.getFileName()).isNotNull();
          assertThat(e.fault()).isEqualTo(ImportFault.FILE_CHANGED);
          assertThat(store.stats().boundaries()).isZero();
        }
        Files.deleteIfExists(file);
      }
    }
  }

  /** While the bytes go into the store: what they became is taken back, and what goes with it. */
  @Test
  void whatChangesWhileItIsStoredIsTakenBack() throws IOException {
    Path file = Files.write(dir.resolve("source.bin"), new byte[100]);
    FileStamp right = FileStamp.of(file);
    FileStamp changed = new FileStamp(file, 99, right.modified(), right.key());
    Exception e = thrownBehindAKeptBlock(right, changed);
    assertThat(e).isInstanceOf(BadImportException.class);
    assertThat(((BadImportException) e).fault()).isEqualTo(ImportFault.FILE_CHANGED);
  }

  @Test
  void whatCannotBeLookedAtAgainIsTakenBack() throws IOException {
    Path file = Files.write(dir.resolve("source.bin"), new byte[100]);
    FileStamp right = FileStamp.of(file);
    FileStamp below = new FileStamp(file.resolve("x"), 100, right.modified(), right.key());
    assertThat(thrownBehindAKeptBlock(right, below)).isInstanceOf(IOException.class);
  }

  /** What storing a second block throws; nothing is stored afterwards, and nothing kept. */
  private Exception thrownBehindAKeptBlock(FileStamp first, FileStamp second) throws IOException {
    int[] ids = new Random(3).ints(16, 0, 100).toArray();
    Path target = dir.resolve("target");
    Exception thrown;
    try (SnapshotStore store = open(target);
        SafetensorsFile from = SafetensorsFile.open(point);
        ChainWriter writer =
            new ChainWriter(
                store.namespace(ModelIdentity.builder().weights("w").build(), LAYOUT))) {
      List<BoundaryKey> keys = PointMetadata.of(from.header().metadata(), "p").keys().subList(0, 2);
      MadeState state = new MadeState(LAYOUT);
      assertThat(writer.canFollow(List.of())).isTrue();
      writer.append(keys.subList(0, 1), state.views(ids, 8), true, first);
      writer.keep(writer.match(keys.subList(0, 1), 8), "name");
      assertThat(store.kept()).hasSize(1);

      thrown =
          catchThrowableOfType(
              Exception.class,
              () -> writer.append(keys.subList(1, 2), state.views(ids, 16), true, second));

      assertThat(thrown).hasNoSuppressedExceptions();
      assertThat(store.kept()).isEmpty();
    }
    try (StoreReader reader = StoreReader.open(target)) {
      assertThat(reader.boundaries()).isZero();
    }
    return thrown;
  }

  @Test
  void aLockedStoreIsFoundBeforeTheFileIsLookedAt() throws IOException {
    Path target = dir.resolve("target");
    byte[] broken = Files.readAllBytes(archive);
    broken[broken.length - 1]++;
    Path file = Files.write(dir.resolve("broken"), broken);
    try (SnapshotStore store = open(target)) {
      assertThat(Run.of("import", target, file).exitCode()).isEqualTo(5);
      assertThat(Run.of("import", target, file, "--create").exitCode()).isEqualTo(5);
      assertThat(store.stats().boundaries()).isZero();
    }
    assertThat(Run.of("import", target, file).exitCode()).isEqualTo(3);
    assertThat(Run.of("import", dir.resolve("none"), file).err()).contains("NOT_A_STORE");
    assertThat(Run.of("import", dir.resolve("none"), file, "--create").exitCode()).isEqualTo(3);
    assertThat(dir.resolve("none")).doesNotExist();
    Path empty = Files.createDirectory(dir.resolve("empty"));
    assertThat(Run.of("import", empty, file, "--create").exitCode()).isEqualTo(3);
    assertThat(empty).isEmptyDirectory();
    assertThat(Arrays.equals(broken, Files.readAllBytes(file))).isTrue();
  }
}
