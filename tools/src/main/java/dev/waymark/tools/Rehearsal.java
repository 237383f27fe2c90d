package dev.waymark.tools;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs the verbs that look into a store, on a small one of its own, for nobody to see: so that an
 * archive of classes which the JVM writes at its exit holds what they load.
 */
final class Rehearsal {
  private static final int BLOCK = 16;
  private static final int TOKENS = 4 * BLOCK;
  private static final TensorSpec ROWS =
      TensorSpec.rows("rows", DType.U8, 1, TensorSpec.TOKEN_AXIS, 1);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.U8, 8);

  private Rehearsal() {}

  /** Runs them; returns the first exit code that says of a failure. */
  static int run() {
    try {
      Path directory = Files.createTempDirectory("segtool-rehearsal-");
      try {
        make(directory);
        return look(directory.toString());
      } finally {
        remove(directory);
      }
    } catch (IOException e) {
      return ExitCodes.FAILURE;
    }
  }

  private static void make(Path directory) {
    StateViews views =
        StateViews.builder()
            .put(
                ROWS,
                TensorView.linear(
                    Memory.of(ByteBuffer.allocateDirect(TOKENS)), 0, TOKENS, 1, 0, TOKENS))
            .put(STATE, TensorView.value(STATE, ByteBuffer.allocateDirect(8)))
            .build();
    try (SnapshotStore store =
        SnapshotStore.open(directory, StoreOptions.builder().quota("64MiB").build())) {
      Namespace namespace =
          store.namespace(
              ModelIdentity.builder().weights("rehearsal").build(), Layout.of(BLOCK, ROWS, STATE));
      int[] tokens = new int[TOKENS];
      try (PrefillSession session =
          namespace.prefill(namespace.match(tokens), PrefillPlan.tokens(TOKENS))) {
        session.append(tokens, views);
        session.promptComplete();
      }
    }
  }

  private static int look(String store) {
    PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
    List<List<String>> lines =
        List.of(
            List.of("estimate", "--layout", "L9", "--tokens", "1", "--json"),
            List.of("status", store),
            List.of("status", "--json", store),
            List.of("ls", store),
            List.of("tree", store),
            List.of("inspect", store),
            List.of("verify", store));
    for (List<String> line : lines) {
      int code = Main.run(line.toArray(String[]::new), nowhere, nowhere);
      if (code != ExitCodes.OK) {
        return code;
      }
    }
    return ExitCodes.OK;
  }

  private static void remove(Path directory) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }
}
