package dev.waymark;

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
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A small closed store with several namespaces, and what may happen to its files. */
final class CheckedStore {
  static final int BLOCK = 16;
  static final int TOKENS = 96;
  static final StoreOptions OPTIONS = StoreOptions.builder().quota("64MiB").build();
  private static final TensorSpec KEYS = TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 8);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 4, 16);
  private static final Layout LAYOUT = Layout.of(BLOCK, KEYS, STATE);

  private final Path path;

  private CheckedStore(Path path) {
    this.path = path;
  }

  /** Makes a store with so many namespaces, a chain in each, a point at every boundary. */
  static CheckedStore make(Path path, int namespaces) {
    CheckedStore made = new CheckedStore(path);
    try (SnapshotStore store = made.open()) {
      for (int i = 0; i < namespaces; i++) {
        made.prefill(store, i);
      }
    }
    return made;
  }

  SnapshotStore open() {
    return SnapshotStore.open(path, OPTIONS);
  }

  Path path() {
    return path;
  }

  void prefill(SnapshotStore store, int number) {
    Namespace ns = store.namespace(ModelIdentity.builder().weights("w" + number).build(), LAYOUT);
    int[] tokens = new Random(number).ints(TOKENS, 0, 1_000).toArray();
    byte[] rows = new byte[2 * TOKENS * 16];
    new Random(number).nextBytes(rows);
    PrefillPlan plan = PrefillPlan.tokens(TOKENS).policy(RestorePolicy.EVERY);
    try (PrefillSession session = ns.prefill(ns.match(tokens), plan)) {
      for (int to = BLOCK; to <= TOKENS; to += BLOCK) {
        TensorView row =
            TensorView.linear(Memory.of(ByteBuffer.wrap(rows)), 0, TOKENS * 16L, 16, 0, to);
        session.append(
            Arrays.copyOfRange(tokens, to - BLOCK, to),
            StateViews.builder()
                .put(KEYS, row)
                .put(STATE, TensorView.value(STATE, ByteBuffer.wrap(rows, 0, 256)))
                .build());
      }
      session.promptComplete();
    }
  }

  StoreVerifier.Report verify() {
    return StoreVerifier.verify(path, StoreVerifier.Level.ALL, bytes -> {});
  }

  List<Path> files(String glob) {
    try (Stream<Path> files = Files.list(path)) {
      return files
          .filter(f -> path.getFileSystem().getPathMatcher("glob:" + glob).matches(f.getFileName()))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void losesItsManifest() {
    for (String glob : new String[] {"CURRENT", "manifest-*.log"}) {
      files(glob).forEach(CheckedStore::delete);
    }
  }

  static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void flip(Path path, long at, int mask) {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.seek(at);
      int before = file.read();
      file.seek(at);
      file.write(before ^ mask);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void swap(Path a, Path b) {
    try {
      Path aside = a.resolveSibling("aside");
      Files.move(a, aside);
      Files.move(b, a);
      Files.move(aside, b);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every file below a directory, by name, and what is in it. */
  static Map<String, Integer> contents(Path directory) {
    Map<String, Integer> contents = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        contents.put(
            directory.relativize(file).toString(), Arrays.hashCode(Files.readAllBytes(file)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return contents;
  }
}
