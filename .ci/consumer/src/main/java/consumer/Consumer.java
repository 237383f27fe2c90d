package consumer;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.RestoredState;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;

/** Stores a prompt's rows and gives them back. */
public final class Consumer {
  private static final int TOKENS = 8;
  private static final TensorSpec KEYS =
      TensorSpec.rows("keys", DType.U8, 1, TensorSpec.TOKEN_AXIS, 4);
  private static final Layout LAYOUT = Layout.of(4, KEYS);
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();

  private Consumer() {}

  public static void main(String[] args) {
    int[] tokens = {1, 2, 3, 4, 5, 6, 7, 8};
    byte[] rows = new byte[4 * TOKENS];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = (byte) i;
    }
    StoreOptions options = StoreOptions.builder().quota("64MiB").build();
    try (SnapshotStore store = SnapshotStore.open(Path.of(args[0]), options)) {
      Namespace namespace = store.namespace(IDENTITY, LAYOUT);
      try (PrefillSession session =
          namespace.prefill(namespace.match(tokens), PrefillPlan.tokens(TOKENS))) {
        session.append(tokens, views(rows, TOKENS));
        session.promptComplete();
      }
    }
    byte[] back = new byte[rows.length];
    try (SnapshotStore store = SnapshotStore.open(Path.of(args[0]), options);
        RestoredState state =
            store.namespace(IDENTITY, LAYOUT).match(Prompt.ofTokens(tokens), TOKENS).restore(TOKENS)) {
      state.read(views(back, TOKENS));
      state.finish();
    }
    if (!Arrays.equals(rows, back)) {
      throw new AssertionError("other bytes came back");
    }
    System.out.println("consumer: the same bytes came back");
  }

  private static StateViews views(byte[] rows, int tokens) {
    return StateViews.builder()
        .put(KEYS, TensorView.packed(KEYS, ByteBuffer.wrap(rows), 0, tokens))
        .build();
  }
}
