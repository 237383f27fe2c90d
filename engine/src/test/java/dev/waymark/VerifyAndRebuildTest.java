package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.StoreLockedException;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a read-only check says of a store that is well, damaged, or without its manifest. */
class VerifyAndRebuildTest {
  private static final int TOKENS = 96;
  private static final TensorSpec KEYS = TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 8);
  private static final TensorSpec WINDOW = TensorSpec.window("window", DType.BF16, 24, 2, 2, -1, 8);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 4, 16);
  private static final Layout LAYOUT = Layout.of(16, KEYS, WINDOW, STATE);
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();
  private static final StoreOptions OPTIONS = StoreOptions.builder().quota("64MiB").build();

  @TempDir Path temp;

  private final byte[] rows = new byte[2 * TOKENS * 16];
  private final byte[] state = new byte[256];
  private final int[] tokens = new Random(1).ints(TOKENS, 0, 1000).toArray();

  private Path store() {
    new Random(2).nextBytes(rows);
    new Random(3).nextBytes(state);
    Path path = temp.resolve("store");
    try (SnapshotStore store = SnapshotStore.open(path, OPTIONS)) {
      Namespace ns = store.namespace(IDENTITY, LAYOUT);
      PrefillPlan plan = PrefillPlan.tokens(TOKENS).policy(RestorePolicy.EVERY);
      try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
        for (int to = 16; to <= TOKENS; to += 16) {
          session.append(Arrays.copyOfRange(tokens, to - 16, to), views(rows, state, to));
        }
        session.promptComplete();
      }
    }
    return path;
  }

  private static StateViews views(byte[] rows, byte[] state, int to) {
    TensorView row =
        TensorView.linear(Memory.of(ByteBuffer.wrap(rows)), 0, TOKENS * 16L, 16, 0, to);
    return StateViews.builder()
        .put(KEYS, row)
        .put(WINDOW, row)
        .put(STATE, TensorView.value(STATE, ByteBuffer.wrap(state)))
        .build();
  }

  private static StoreVerifier.Report verify(Path path) {
    return StoreVerifier.verify(path, StoreVerifier.Level.ALL, bytes -> {});
  }

  @Test
  void aClosedStoreIsWellAndEveryByteHasItsPlace() {
    StoreVerifier.Report report = verify(store());
    assertThat(report.findings()).isEmpty();
    assertThat(report.boundaries()).isEqualTo(6);
    assertThat(report.points()).isEqualTo(6);
    assertThat(report.recordsChecked()).isEqualTo(18);
    for (StoreVerifier.FileBytes file : report.files()) {
      assertThat(file.unaccountedBytes()).as(file.file()).isZero();
      assertThat(file.liveBytes() + file.deadBytes() + file.framingBytes() + file.reservedBytes())
          .as(file.file())
          .isEqualTo(file.allocatedBytes());
    }
  }

  @Test
  void aDirectoryInTheWayIsNamedBeforeAnythingMoves() throws IOException {
    Path path = store();
    for (String name : List.of("CURRENT", "CURRENT.tmp", "STATUS", "manifest-2.log")) {
      Files.deleteIfExists(path.resolve(name));
      Files.createDirectory(path.resolve(name));
      List<String> before = names(path);
      assertThatThrownBy(() -> StoreRepair.rebuildManifest(path, true))
          .isInstanceOf(CorruptionException.class)
          .hasMessageContaining(name)
          .hasMessageContaining("move it away");
      assertThat(names(path)).isEqualTo(before);
      Files.delete(path.resolve(name));
    }
    assertThat(StoreRepair.rebuildManifest(path, true).boundaries()).isEqualTo(6);
    assertThat(verify(path).findings()).isEmpty();
  }

  private static List<String> names(Path path) throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      return files.map(file -> path.relativize(file).toString()).sorted().toList();
    }
  }

  @Test
  void aWriterIsRespectedWhateverThereIsToRepair() {
    Path path = temp.resolve("busy");
    try (SnapshotStore store = SnapshotStore.open(path, OPTIONS)) {
      assertThatThrownBy(() -> StoreRepair.rebuildManifest(path, true))
          .isInstanceOf(StoreLockedException.class);
      assertThat(StoreRepair.rebuildManifest(path, false).applied()).isFalse();
    }
    assertThat(StoreRepair.rebuildManifest(path, true).segments()).isZero();
  }

  @Test
  void aMissingCurrentIsNamedByWhoeverLooks() throws IOException {
    Path path = store();
    Files.delete(path.resolve("CURRENT"));
    assertThatThrownBy(() -> SnapshotStore.open(path, OPTIONS))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("CURRENT is missing, though there are segments");
    assertThatThrownBy(() -> verify(path))
        .isInstanceOf(NotAStoreException.class)
        .hasMessageContaining("CURRENT is missing, though there are segments");
  }

  @Test
  void aFlippedByteOfARecordIsFoundAndTheStoreIsLeftAsItIs() throws IOException {
    Path path = store();
    Path segment = anySegment(path);
    byte[] before = Files.readAllBytes(segment);
    int at = 3 * 4096 + 100;
    try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
      file.seek(at);
      file.write(before[at] ^ 1);
    }
    byte[] damaged = Files.readAllBytes(segment);
    StoreVerifier.Report report = verify(path);
    assertThat(report.isDamaged()).isTrue();
    assertThat(report.findings()).extracting("id").containsOnly("RECORD_DAMAGED");
    assertThat(Files.readAllBytes(segment)).isEqualTo(damaged);
  }

  @Test
  void aStoreWithoutItsManifestComesBackFromItsRecords() throws IOException {
    Path path = store();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
      for (Path file : files) {
        if (!file.toString().endsWith(".seg")) {
          Files.delete(file);
        }
      }
    }
    StoreRepair.Report look = StoreRepair.rebuildManifest(path, false);
    assertThat(look.boundaries()).isEqualTo(6);
    assertThat(Files.exists(path.resolve("CURRENT"))).isFalse();
    StoreRepair.Report done = StoreRepair.rebuildManifest(path, true);
    assertThat(done.points()).isEqualTo(6);
    assertThat(done.findings()).isEmpty();
    assertThat(verify(path).isDamaged()).isFalse();
    try (SnapshotStore store = SnapshotStore.open(path, OPTIONS)) {
      PrefixMatch match = store.namespace(IDENTITY, LAYOUT).match(tokens);
      assertThat(match.storedTokens()).isEqualTo(TOKENS);
      assertThat(match.points()).containsExactly(16, 32, 48, 64, 80);
      restoresTheSameBytes(match, 80);
    }
    assertThat(verify(path).findings()).isEmpty();
  }

  private void restoresTheSameBytes(PrefixMatch match, int to) {
    byte[] rowsBack = new byte[rows.length];
    byte[] stateBack = new byte[state.length];
    try (RestoredState restored = match.restore(to)) {
      restored.read(views(rowsBack, stateBack, to));
      restored.finish();
    }
    for (int outer = 0; outer < 2; outer++) {
      int from = outer * TOKENS * 16;
      assertThat(Arrays.copyOfRange(rowsBack, from, from + to * 16))
          .isEqualTo(Arrays.copyOfRange(rows, from, from + to * 16));
    }
    assertThat(stateBack).isEqualTo(state);
  }

  private static Path anySegment(Path path) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path, "append-*.seg")) {
      return files.iterator().next();
    }
  }
}
