package dev.waymark.tools;

import dev.waymark.Durability;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Makes a store of very many boundaries, of as few bytes as boundaries can have: chains of 2,020
 * blocks, ten of which share their first 20, with a restore point each.
 */
public final class ManyBoundaries {
  private static final int BLOCK = 16;
  private static final int SHARED = 20;
  private static final int OWN = 2_000;
  private static final int TOKENS = BLOCK * (SHARED + OWN);
  private static final TensorSpec ROWS =
      TensorSpec.rows("rows", DType.U8, 1, TensorSpec.TOKEN_AXIS, 1);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.U8, 8);

  private ManyBoundaries() {}

  /** {@code DIRECTORY COUNT}: makes it there, with at least so many boundaries. */
  public static void main(String[] arguments) {
    long start = System.nanoTime();
    make(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
    System.out.printf("made in %.1f s%n", (System.nanoTime() - start) / 1e9);
  }

  static void make(Path path, int boundaries) {
    StoreOptions options =
        StoreOptions.builder().quota("64GiB").durability(Durability.NONE).build();
    ByteBuffer rows = ByteBuffer.allocateDirect(TOKENS);
    ByteBuffer state = ByteBuffer.allocateDirect(8);
    StateViews views =
        StateViews.builder()
            .put(ROWS, TensorView.linear(Memory.of(rows), 0, TOKENS, 1, 0, TOKENS))
            .put(STATE, TensorView.value(STATE, state))
            .build();
    try (SnapshotStore store = SnapshotStore.open(path, options)) {
      Namespace namespace =
          store.namespace(
              ModelIdentity.builder().weights("many").build(), Layout.of(BLOCK, ROWS, STATE));
      int[] tokens = new int[TOKENS];
      int stored = 0;
      for (int chain = 0; stored < boundaries; chain++) {
        Arrays.fill(tokens, 0, BLOCK * SHARED, chain / 10);
        Arrays.fill(tokens, BLOCK * SHARED, TOKENS, chain);
        try (PrefillSession session =
            namespace.prefill(
                namespace.match(tokens),
                PrefillPlan.tokens(TOKENS + 1).policy(RestorePolicy.LAST))) {
          session.append(tokens, views);
          session.promptComplete();
        }
        stored += OWN + (chain % 10 == 0 ? SHARED : 0);
      }
    }
  }
}
