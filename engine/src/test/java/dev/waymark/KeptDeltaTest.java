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
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A delta that outlived its point, for the sake of points below, does not make a window whole. */
class KeptDeltaTest {
  private static final int BLOCK = 16;
  private static final int ROW_BYTES = 8;
  private static final int TOKENS = 192;
  private static final TensorSpec WINDOW = TensorSpec.window("window", DType.F32, 70, 0, -1, 2);
  private static final Layout LAYOUT = Layout.of(BLOCK, WINDOW);
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();
  private static final StoreOptions OPTIONS = StoreOptions.builder().quota("64MiB").build();

  @TempDir Path folder;
  private final int[] prompt = IntStream.range(0, TOKENS).toArray();
  private final byte[] rows = new byte[TOKENS * ROW_BYTES];

  @Test
  void aPointAddedAgainBringsWhatItsChainLost() {
    new Random(1).nextBytes(rows);
    Path store = folder.resolve("store");
    try (SnapshotStore opened = SnapshotStore.open(store, OPTIONS)) {
      Namespace namespace = opened.namespace(IDENTITY, LAYOUT);
      // A point at 64, then at 112 whose delta leaves out what is before 64, then at 160, whose
      // window reaches back to 90: the point at 112 goes, its delta stays, and that at 64 goes.
      prefill(namespace, 80);
      prefill(namespace, 128);
      prefill(namespace, 176);
      assertThat(namespace.match(prompt).points()).containsExactly(160);
      prefill(namespace, 128);
      assertThat(namespace.match(prompt).points()).containsExactly(112, 160);
      restore(namespace, 112);
      restore(namespace, 160);
    }
    try (SnapshotStore opened = SnapshotStore.open(store, OPTIONS)) {
      Namespace namespace = opened.namespace(IDENTITY, LAYOUT);
      restore(namespace, 112);
      restore(namespace, 160);
    }
  }

  private void prefill(Namespace namespace, int tokens) {
    PrefixMatch match = namespace.match(Arrays.copyOf(prompt, tokens));
    PrefillPlan plan = PrefillPlan.tokens(tokens).policy(RestorePolicy.LAST);
    try (PrefillSession session = namespace.prefill(match, plan)) {
      for (int from = session.tokens(); from < tokens; from += BLOCK) {
        TensorView view =
            TensorView.packed(
                WINDOW, ByteBuffer.wrap(rows, 0, (from + BLOCK) * ROW_BYTES), 0, from + BLOCK);
        session.append(
            Arrays.copyOfRange(prompt, from, from + BLOCK),
            StateViews.builder().put(WINDOW, view).build());
      }
      session.promptComplete();
    }
  }

  private void restore(Namespace namespace, int at) {
    int first = at - 70;
    byte[] back = new byte[70 * ROW_BYTES];
    try (RestoredState state = namespace.match(prompt).restore(at)) {
      state.read(WINDOW, TensorView.packed(WINDOW, ByteBuffer.wrap(back), first, at));
      state.finish();
    }
    assertThat(back).isEqualTo(Arrays.copyOfRange(rows, first * ROW_BYTES, at * ROW_BYTES));
  }
}
