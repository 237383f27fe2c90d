package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FirstRoundTripTest {
  private static final TensorSpec KEYS = TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 8);
  private static final TensorSpec WINDOW = TensorSpec.window("window", DType.BF16, 24, 2, 2, -1, 8);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 4, 16);
  private static final Layout LAYOUT = Layout.of(16, KEYS, WINDOW, STATE);

  @TempDir Path dir;

  @Test
  void aPrefillComesBackAfterAReopen() {
    int n = 100;
    int[] tokens = new Random(1).ints(n, 0, 1000).toArray();
    byte[] rows = new byte[2 * n * 16];
    new Random(2).nextBytes(rows);
    byte[] state = new byte[256];
    new Random(3).nextBytes(state);
    ModelIdentity identity = ModelIdentity.builder().weights("w").build();
    StoreOptions options = StoreOptions.builder().quota("64MiB").build();
    try (SnapshotStore store = SnapshotStore.open(dir.resolve("s"), options)) {
      Namespace ns = store.namespace(identity, LAYOUT);
      PrefixMatch match = ns.match(tokens);
      assertThat(match.storedTokens()).isZero();
      try (PrefillSession s =
          ns.prefill(match, PrefillPlan.tokens(n).policy(RestorePolicy.EVERY))) {
        for (int to = 16; to <= 96; to += 16) {
          s.append(java.util.Arrays.copyOfRange(tokens, to - 16, to), views(rows, state, n, to));
        }
        s.promptComplete();
      }
      restore(ns.match(tokens), rows, state, n);
    }
    try (SnapshotStore store = SnapshotStore.open(dir.resolve("s"), options)) {
      Namespace ns = store.namespace(identity, LAYOUT);
      PrefixMatch match = ns.match(tokens);
      assertThat(match.restorableTokens()).isEqualTo(96);
      restore(match, rows, state, n);
      System.out.println(store.stats() + "\n" + store.recovery());
    }
  }

  private static StateViews views(byte[] rows, byte[] state, int n, int to) {
    TensorView row =
        TensorView.linear(
            dev.waymark.layout.Memory.of(ByteBuffer.wrap(rows)), 0, n * 16L, 16, 0, to);
    return StateViews.builder()
        .put(KEYS, row)
        .put(WINDOW, row)
        .put(STATE, TensorView.value(STATE, ByteBuffer.wrap(state)))
        .build();
  }

  private static void restore(PrefixMatch match, byte[] rows, byte[] state, int n) {
    byte[] rowsBack = new byte[rows.length];
    byte[] windowBack = new byte[rows.length];
    byte[] stateBack = new byte[256];
    try (RestoredState restored = match.restore()) {
      int to = restored.tokens();
      restored.read(
          StateViews.builder()
              .put(
                  KEYS,
                  TensorView.linear(
                      dev.waymark.layout.Memory.of(ByteBuffer.wrap(rowsBack)),
                      0,
                      n * 16L,
                      16,
                      0,
                      to))
              .put(
                  WINDOW,
                  TensorView.linear(
                      dev.waymark.layout.Memory.of(ByteBuffer.wrap(windowBack)),
                      0,
                      n * 16L,
                      16,
                      0,
                      to))
              .put(STATE, TensorView.value(STATE, ByteBuffer.wrap(stateBack)))
              .build());
      restored.finish();
      for (int o = 0; o < 2; o++) {
        for (int r = 0; r < to; r++) {
          for (int b = 0; b < 16; b++) {
            int at = o * n * 16 + r * 16 + b;
            assertThat(rowsBack[at]).isEqualTo(rows[at]);
            if (r < 2 || r >= to - 24) {
              assertThat(windowBack[at]).isEqualTo(rows[at]);
            }
          }
        }
      }
      assertThat(stateBack).isEqualTo(state);
    }
  }
}
