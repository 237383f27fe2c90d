package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A block that was stored in pieces, dropped, and stored again with other bytes, of which nothing
 * was given back: as after a kill before the files were deleted. Without the manifest, pieces of
 * both are there.
 */
class RebuiltPiecesTest {
  private static final int TOKENS = 64;
  private static final int ROW_BYTES = 16 << 10;
  private static final TensorSpec KEYS =
      TensorSpec.rows("keys", DType.F32, 1, TensorSpec.TOKEN_AXIS, ROW_BYTES / Float.BYTES);
  private static final Layout LAYOUT = Layout.of(TOKENS, KEYS);
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();

  @TempDir Path temp;
  private Path path;

  /** The block, and a token behind it that is always computed. */
  private final int[] prompt = IntStream.rangeClosed(0, TOKENS).toArray();

  @BeforeEach
  void path() {
    path = temp.resolve("store");
  }

  private static byte[] rows(int of) {
    byte[] rows = new byte[TOKENS * ROW_BYTES];
    Arrays.fill(rows, (byte) of);
    return rows;
  }

  /** Stores the block anew, under a quota on which the size of pieces depends. */
  private void store(String quota, byte[] rows, boolean inNewNamespace) {
    StoreOptions options = StoreOptions.builder().quota(quota).build();
    try (SnapshotStore store = SnapshotStore.open(path, options)) {
      Namespace ns = store.namespace(IDENTITY, LAYOUT);
      PrefixMatch before = ns.match(prompt);
      if (inNewNamespace) {
        store.maintenance().deleteNamespace(ns, false);
        ns = store.namespace(IDENTITY, LAYOUT);
      } else if (before.restorableTokens() > 0) {
        store.maintenance().deleteChain(before, false);
      }
      try (PrefillSession session =
          ns.prefill(ns.match(prompt), PrefillPlan.tokens(prompt.length))) {
        TensorView view =
            TensorView.linear(Memory.of(ByteBuffer.wrap(rows)), 0, 0, ROW_BYTES, 0, TOKENS);
        session.append(Arrays.copyOf(prompt, TOKENS), StateViews.builder().put(KEYS, view).build());
        session.promptComplete();
      }
    }
  }

  private List<Path> segments() {
    try (Stream<Path> files = Files.list(path)) {
      return files.filter(file -> file.toString().endsWith(".seg")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Both are stored, the second under another quota; the files of both are there. */
  private List<Path> storeBoth(String firstQuota, String secondQuota, boolean inNewNamespace)
      throws IOException {
    store(firstQuota, rows(1), false);
    List<Path> first = new ArrayList<>();
    for (Path file : segments()) {
      first.add(Files.copy(file, temp.resolve(file.getFileName())));
    }
    store(secondQuota, rows(2), inNewNamespace);
    List<Path> second = segments();
    for (Path file : first) {
      Files.move(file, path.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
    }
    Files.delete(path.resolve("CURRENT"));
    return second;
  }

  private byte[] rebuiltRows() {
    StoreRepair.rebuildManifest(path, true);
    byte[] rows = new byte[TOKENS * ROW_BYTES];
    try (SnapshotStore store = SnapshotStore.open(path, StoreOptions.builder().build())) {
      Namespace ns = store.namespace(IDENTITY, LAYOUT);
      try (RestoredState state = ns.match(prompt).restore()) {
        TensorView view =
            TensorView.linear(Memory.of(ByteBuffer.wrap(rows)), 0, 0, ROW_BYTES, 0, TOKENS);
        state.read(StateViews.builder().put(KEYS, view).build());
        state.finish();
      }
    }
    return rows;
  }

  @ParameterizedTest
  @CsvSource({
    "16MiB,16MiB,false",
    "16MiB,40MiB,false",
    "40MiB,16MiB,false",
    "16MiB,16MiB,true",
  })
  void whatWasWrittenLastComesBackWhole(String first, String second, boolean inNewNamespace)
      throws IOException {
    storeBoth(first, second, inNewNamespace);
    assertThat(rebuiltRows()).isEqualTo(rows(2));
  }

  @Test
  void wherePiecesOfItAreMissingWhatWasWrittenBeforeComesBackWhole() throws IOException {
    List<Path> second = storeBoth("16MiB", "16MiB", false);
    assertThat(second).hasSizeGreaterThan(2);
    Files.delete(second.get(0));
    assertThat(rebuiltRows()).isEqualTo(rows(1));
  }
}
