package dev.waymark.tools.example;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;

/** What a server does around its model. The README shows the parts between the markers. */
final class PrefixCacheExample {
  private PrefixCacheExample() {}

  // README: the model's state
  static final int HEADS = 8;
  static final int WIDTH = 64;
  static final int WINDOW_TOKENS = 512;
  static final int SINK_TOKENS = 4;
  static final long AXIS = TensorSpec.TOKEN_AXIS;

  static final TensorSpec KEYS = TensorSpec.rows("layer_0_keys", DType.BF16, 1, HEADS, AXIS, WIDTH);
  static final TensorSpec RECENT =
      TensorSpec.window("layer_1_keys", DType.BF16, WINDOW_TOKENS, SINK_TOKENS, HEADS, AXIS, WIDTH);
  static final TensorSpec RECURRENT =
      TensorSpec.fixed("layer_2_state", DType.F32, HEADS, WIDTH, WIDTH);

  static final Layout LAYOUT = Layout.of(256, KEYS, RECENT, RECURRENT);
  static final ModelIdentity IDENTITY =
      ModelIdentity.builder().weights("sha256:...").tokenizer("...").engine("my-server/3").build();

  // README: end

  /** Stands for the caches of a real engine, and for its kernels. */
  static final class MyCache {
    private static final int ROW_BYTES = WIDTH * 2;

    final int capacityTokens;
    final ByteBuffer keys;
    final ByteBuffer recent;
    final ByteBuffer recurrent;
    int computedTokens;

    MyCache(int capacityTokens) {
      this.capacityTokens = capacityTokens;
      this.keys = ByteBuffer.allocateDirect(HEADS * capacityTokens * ROW_BYTES);
      this.recent = ByteBuffer.allocateDirect(HEADS * ringSlots() * ROW_BYTES);
      this.recurrent = ByteBuffer.allocateDirect(HEADS * WIDTH * WIDTH * 4);
    }

    static int ringSlots() {
      return SINK_TOKENS + WINDOW_TOKENS;
    }

    static int slotOf(int token) {
      return token < SINK_TOKENS ? token : SINK_TOKENS + (token - SINK_TOKENS) % WINDOW_TOKENS;
    }

    // README: views of your own buffers
    StateViews views(int tokens) {
      return StateViews.builder()
          .put(
              KEYS,
              TensorView.linear(
                  Memory.of(keys), 0, (long) capacityTokens * ROW_BYTES, ROW_BYTES, 0, tokens))
          .put(
              RECENT,
              TensorView.ring(
                  Memory.of(recent),
                  0,
                  (long) ringSlots() * ROW_BYTES,
                  ROW_BYTES,
                  ringSlots(),
                  SINK_TOKENS,
                  slotOf(tokens),
                  tokens))
          .put(RECURRENT, TensorView.value(RECURRENT, recurrent))
          .build();
    }

    // README: end

    /** Writes what only these tokens and the state before could have made. */
    void compute(int[] tokens, int from, int to) {
      for (int t = from; t < to; t++) {
        for (int i = 0; i < recurrent.capacity(); i += 4) {
          recurrent.putInt(i, 31 * recurrent.getInt(i) + tokens[t] + i);
        }
        for (int head = 0; head < HEADS; head++) {
          int row = (head * capacityTokens + t) * ROW_BYTES;
          int slot = (head * ringSlots() + slotOf(t)) * ROW_BYTES;
          for (int i = 0; i < ROW_BYTES; i += 4) {
            keys.putInt(row + i, recurrent.getInt(head + i) ^ t);
            recent.putInt(slot + i, recurrent.getInt(head + i) + t);
          }
        }
      }
      computedTokens += to - from;
    }
  }

  // README: a request
  static void prefill(Path dir, int[] tokens, MyCache cache) {
    StoreOptions options = StoreOptions.builder().quota("100GiB").build();
    try (SnapshotStore store = SnapshotStore.open(dir, options)) { // once, for all requests
      Namespace ns = store.namespace(IDENTITY, LAYOUT); // of a tenant: ns.tenant(secretSalt)

      PrefixMatch match = ns.match(tokens); // no I/O
      int at = match.restorableTokens();
      if (at > 0) {
        try (RestoredState state = match.restore()) {
          state.read(cache.views(at));
          state.finish(); // now it is right, or it throws
        }
      }

      try (PrefillSession session = ns.prefill(match, PrefillPlan.tokens(tokens.length))) {
        while (at < tokens.length) {
          int point = session.nextPointTokens(); // where window and state will be asked for
          int to = Math.min(point > at ? point : tokens.length, at + 2048);
          cache.compute(tokens, at, to);
          session.append(Arrays.copyOfRange(tokens, session.tokens(), to), cache.views(to));
          at = to;
        }
        session.promptComplete(); // thinned and durable; generated blocks may still be appended
      } // closed before that: aborted, and what was stored is kept for the retry
    }
  }
  // README: end
}
