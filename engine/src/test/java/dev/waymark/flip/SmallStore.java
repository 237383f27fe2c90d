package dev.waymark.flip;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Files of a store that the engine wrote and closed, of at least so many bytes. */
final class SmallStore {
  private static final int UNUSED_BYTES = 4_096;
  static final int LEAST_BYTES = 64 << 10;

  private static final int BLOCK_TOKENS = 16;

  /** Every growth; types and widths that all codecs take. */
  private static final Layout EVERY_GROWTH =
      Layout.of(
          BLOCK_TOKENS,
          TensorSpec.rows("k", DType.F32, 1, 2, TensorSpec.TOKEN_AXIS, 64),
          TensorSpec.window("w", DType.F32, 24, 4, TensorSpec.TOKEN_AXIS, 64),
          TensorSpec.fixed("s", DType.F32, 16, 64));

  /** So that there are many edits. */
  private static final Layout SMALL_ROWS =
      Layout.of(
          BLOCK_TOKENS,
          TensorSpec.rows("k", DType.U8, 1, TensorSpec.TOKEN_AXIS, 1),
          TensorSpec.fixed("s", DType.U8, 1));

  private SmallStore() {}

  /** A store whose segments have at least that length, and all tensors one codec. */
  static Map<String, byte[]> ofSegments(Codec codec) {
    for (int blocks = 1; ; blocks++) {
      Map<String, byte[]> files =
          write(EVERY_GROWTH, new CodecPlan(codec, codec, codec, Map.of()), blocks);
      if (files.entrySet().stream()
              .filter(file -> file.getKey().endsWith(".seg"))
              .mapToLong(file -> file.getValue().length)
              .sum()
          >= LEAST_BYTES) {
        return files;
      }
    }
  }

  /** A store whose manifest has edits of at least that length. */
  static Map<String, byte[]> ofEdits() {
    for (int blocks = 40; ; blocks += 10) {
      Map<String, byte[]> files = write(SMALL_ROWS, CodecPlan.RAW, blocks);
      String name = manifest(files);
      byte[] manifest = files.get(name);
      int end = manifest.length;
      while (manifest[end - 1] == 0) {
        end--;
      }
      if (end >= LEAST_BYTES) {
        // Of what is allocated behind the end, some is enough: it is all the same.
        files.put(name, Arrays.copyOf(manifest, end + UNUSED_BYTES));
        return files;
      }
    }
  }

  static String manifest(Map<String, byte[]> files) {
    return files.keySet().stream()
        .filter(name -> name.startsWith("manifest-"))
        .findFirst()
        .orElseThrow();
  }

  private static Map<String, byte[]> write(Layout layout, CodecPlan codecs, int blocks) {
    try {
      Path directory = Files.createTempDirectory("waymark-flips");
      try (SnapshotStore store =
          SnapshotStore.open(
              directory, StoreOptions.builder().quota("256MiB").backgroundThread(false).build())) {
        Namespace namespace =
            store.namespace(ModelIdentity.builder().engine("flips").build(), layout, codecs);
        prefill(namespace, layout, blocks);
      }
      return take(directory);
    } catch (IOException e) {
      throw new AssertionError("a small store could not be written", e);
    }
  }

  private static void prefill(Namespace namespace, Layout layout, int blocks) {
    int[] tokens = new SplittableRandom(1).ints(blocks * (long) BLOCK_TOKENS).toArray();
    PrefillPlan plan = PrefillPlan.tokens(tokens.length).policy(RestorePolicy.EVERY);
    try (PrefillSession session = namespace.prefill(namespace.match(tokens), plan)) {
      for (int to = BLOCK_TOKENS; to <= tokens.length; to += BLOCK_TOKENS) {
        session.append(Arrays.copyOfRange(tokens, to - BLOCK_TOKENS, to), views(layout, to));
      }
      session.promptComplete();
    }
  }

  private static StateViews views(Layout layout, int tokens) {
    StateViews.Builder views = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      long inner = spec.innerBytes();
      long rows = spec.rowsAfter(tokens);
      ByteBuffer data = values(spec, (int) (spec.outer() * rows * inner));
      views.put(
          spec,
          spec.growth() instanceof Growth.Fixed
              ? TensorView.value(spec, data)
              : TensorView.linear(Memory.of(data), 0, rows * inner, inner, 0, rows));
    }
    return views.build();
  }

  /** Floats of few bits, which every codec makes smaller; other types get a byte each. */
  private static ByteBuffer values(TensorSpec spec, int length) {
    SplittableRandom random = new SplittableRandom(length);
    ByteBuffer data = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    while (data.hasRemaining()) {
      if (spec.dtype() == DType.F32) {
        data.putFloat(random.nextInt(-127, 128) / 64f);
      } else {
        data.put((byte) random.nextInt());
      }
    }
    return data.flip();
  }

  /** Reads all files but the lock, and deletes them. */
  private static Map<String, byte[]> take(Path directory) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    try (Stream<Path> list = Files.list(directory)) {
      for (Path file : (Iterable<Path>) list::iterator) {
        if (!file.getFileName().toString().equals("LOCK")) {
          files.put(file.getFileName().toString(), Files.readAllBytes(file));
        }
        Files.delete(file);
      }
    }
    Files.delete(directory);
    return files;
  }
}
