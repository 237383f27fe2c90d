package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.Share;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.MovingException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.ViewMismatchException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreReaderTest {
  private static final int BLOCK = 16;
  private static final int CAPACITY = 512;
  private static final TensorSpec KEYS = TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 8);
  private static final TensorSpec WINDOW = TensorSpec.window("window", DType.BF16, 24, 0, 2, -1, 8);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 4, 16);
  private static final Layout LAYOUT = Layout.of(BLOCK, KEYS, WINDOW, STATE);
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();

  @TempDir Path dir;

  private SnapshotStore open() {
    return SnapshotStore.open(dir, StoreOptions.builder().quota("64MiB").build());
  }

  private static byte[] bytes(int seed) {
    byte[] rows = new byte[2 * CAPACITY * 16];
    new Random(seed).nextBytes(rows);
    return rows;
  }

  private static StateViews views(byte[] rows, int to) {
    TensorView view =
        TensorView.linear(Memory.of(ByteBuffer.wrap(rows)), 0, CAPACITY * 16L, 16, 0, to);
    return StateViews.builder()
        .put(KEYS, view)
        .put(WINDOW, view)
        .put(STATE, TensorView.value(STATE, ByteBuffer.wrap(rows, 0, 256)))
        .build();
  }

  private static void prefill(SnapshotStore store, int seed, int count, RestorePolicy policy) {
    Namespace ns = store.namespace(IDENTITY, LAYOUT);
    int[] tokens = new Random(seed).ints(count, 0, 1_000_000).toArray();
    try (PrefillSession session =
        ns.prefill(ns.match(tokens), PrefillPlan.tokens(count).policy(policy))) {
      for (int to = BLOCK; to <= count; to += BLOCK) {
        session.append(Arrays.copyOfRange(tokens, to - BLOCK, to), views(bytes(seed), to));
      }
      session.promptComplete();
    }
  }

  private static List<Boundary> boundaries(StoreReader reader) {
    List<Boundary> boundaries = new ArrayList<>();
    reader.forEachBoundary(boundaries::add);
    return boundaries;
  }

  private static byte[] read(StoreReader reader, Boundary boundary) {
    byte[] rows = new byte[boundary.tokens() * 32];
    int lane = boundary.tokens() * 16;
    TensorView view =
        TensorView.linear(Memory.of(ByteBuffer.wrap(rows)), 0, lane, 16, 0, boundary.tokens());
    reader.readPoint(boundary, StateViews.builder().put(KEYS, view).build());
    return rows;
  }

  @Test
  void pointsAreReadByKeyWithoutALock() {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 160, RestorePolicy.EVERY);
    }
    try (SnapshotStore store = open()) {
      try (StoreReader reader = StoreReader.open(dir)) {
        List<Boundary> chain = boundaries(reader);
        assertThat(chain).hasSize((int) store.stats().boundaries());
        byte[] expected = bytes(1);
        for (Boundary boundary : chain) {
          byte[] rows = read(reader, boundary);
          int lane = boundary.tokens() * 16;
          assertThat(Arrays.copyOf(rows, lane)).isEqualTo(Arrays.copyOf(expected, lane));
          assertThat(Arrays.copyOfRange(rows, lane, 2 * lane))
              .isEqualTo(Arrays.copyOfRange(expected, CAPACITY * 16, CAPACITY * 16 + lane));
          assertThat(reader.chain(boundary)).hasSize(boundary.tokens() / BLOCK + 1);
        }
      }
    }
  }

  @Test
  void aBoundarysOwnWindowBeginsWhereItsChainsEnds() {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 64, RestorePolicy.EVERY);
    }
    try (StoreReader reader = StoreReader.open(dir)) {
      Boundary last = boundaries(reader).get(2);
      assertThat(StoreReader.ownRows(last, Share.WINDOW, WINDOW))
          .isEqualTo(new StoreReader.RowRange(32, 48));
      byte[] rows = new byte[2 * 16 * 16];
      TensorView view = TensorView.linear(Memory.of(ByteBuffer.wrap(rows)), 0, 16 * 16, 16, 32, 48);
      reader.readOwn(last, Share.WINDOW, StateViews.builder().put(WINDOW, view).build());
      assertThat(Arrays.copyOf(rows, 256)).isEqualTo(Arrays.copyOfRange(bytes(1), 512, 768));
    }
  }

  @Test
  void damageIsSaidToBeDamage() throws IOException {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 64, RestorePolicy.EVERY);
    }
    try (RandomAccessFile file = new RandomAccessFile(dir.resolve("append-1.seg").toFile(), "rw")) {
      // Behind the headers of all records there are.
      for (int at = 8_192 + 1_024; at < file.length(); at += 256) {
        file.seek(at);
        file.write(0x5a);
      }
    }
    try (StoreReader reader = StoreReader.open(dir)) {
      Boundary last = boundaries(reader).get(3);
      assertThatThrownBy(() -> read(reader, last)).isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void whatAWriterTookAwayHasMoved() {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 160, RestorePolicy.EVERY);
    }
    try (StoreReader reader = StoreReader.open(dir)) {
      Boundary last = boundaries(reader).get(9);
      try (SnapshotStore store = open()) {
        store.maintenance().deleteNamespace(store.namespace(IDENTITY, LAYOUT), false);
      }
      assertThatThrownBy(() -> read(reader, last)).isInstanceOf(MovingException.class);
    }
  }

  @Test
  void rowsAloneAreNoPoint() {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 64, RestorePolicy.LAST);
    }
    try (StoreReader reader = StoreReader.open(dir)) {
      Boundary first = boundaries(reader).get(0);
      assertThatThrownBy(() -> read(reader, first)).isInstanceOf(InvalidArgumentException.class);
    }
    assertThatThrownBy(() -> StoreReader.open(dir.resolve("none")))
        .isInstanceOf(NotAStoreException.class);
  }

  @Test
  void aCallerWhoSaysWherePointsAreIsNotOverruled() {
    try (SnapshotStore store = open()) {
      BoundaryKey root = new BoundaryKey(9, 9, 9, 9);
      Namespace ns = store.namespace(IDENTITY, LAYOUT).underRoot(root);
      List<BoundaryKey> keys = new ArrayList<>();
      for (int i = 1; i <= 6; i++) {
        keys.add(new BoundaryKey(i, 0, 0, 0));
      }
      PrefixMatch none = ns.match(Prompt.ofKeys(List.of(), 0), 0);
      try (PrefillSession session =
          ns.prefill(none, PrefillPlan.tokens(0).policy(RestorePolicy.EVERY))) {
        for (int i = 0; i < keys.size(); i++) {
          int to = (i + 1) * BLOCK;
          boolean point = i == 1 || i == 4;
          StateViews all = views(bytes(7), to);
          StateViews rows = StateViews.builder().put(KEYS, all.get(KEYS)).build();
          AppendReceipt receipt = session.append(keys.subList(i, i + 1), point ? all : rows, point);
          assertThat(receipt.pointAdded()).isEqualTo(point);
        }
        assertThatThrownBy(
                () ->
                    session.append(
                        List.of(new BoundaryKey(7, 0, 0, 0)),
                        StateViews.builder().put(KEYS, views(bytes(7), 112).get(KEYS)).build(),
                        true))
            .isInstanceOf(ViewMismatchException.class);
        session.promptComplete();
      }
      int tokens = keys.size() * BLOCK;
      assertThat(ns.match(Prompt.ofKeys(keys, tokens), tokens).points())
          .containsExactly(2 * BLOCK, 5 * BLOCK);
      assertThat(
              store
                  .namespace(IDENTITY, LAYOUT)
                  .match(Prompt.ofKeys(keys, tokens), tokens)
                  .storedTokens())
          .isZero();
    }
  }
}
