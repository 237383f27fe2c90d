package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.ViewMismatchException;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A restore never says that it gave back bytes which it wrote over itself. */
class OverlappingViewsTest {
  private static final int HEADS = 3;
  private static final int ROWS = 4;
  private static final int INNER = 4;
  private static final int CAPACITY = 1 << 10;
  private static final TensorSpec K = TensorSpec.rows("k", DType.BF16, 1, HEADS, -1, INNER / 2);
  private static final Layout LAYOUT = Layout.of(ROWS, K);

  private final int[] prompt = {1, 2, 3, 4, 5};

  private static TensorView linear(ByteBuffer buffer, long outerStride, long rowStride) {
    return TensorView.linear(Memory.of(buffer), 0, outerStride, rowStride, 0, ROWS);
  }

  private static List<Integer> places(long outerStride, long rowStride) {
    List<Integer> places = new ArrayList<>();
    for (int o = 0; o < HEADS; o++) {
      for (int r = 0; r < ROWS; r++) {
        places.add((int) (o * outerStride + r * rowStride));
      }
    }
    return places;
  }

  private static boolean overlap(List<Integer> places) {
    List<Integer> sorted = places.stream().sorted().toList();
    for (int i = 1; i < sorted.size(); i++) {
      if (sorted.get(i) - sorted.get(i - 1) < INNER) {
        return true;
      }
    }
    return false;
  }

  @Test
  void everyStrideIsRefusedOrGivesBackWhatWasStored() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      byte[] stored = new byte[HEADS * ROWS * INNER];
      for (int i = 0; i < stored.length; i++) {
        stored[i] = (byte) (i + 1);
      }
      try (PrefillSession session = ns.prefill(ns.match(prompt), PrefillPlan.tokens(5))) {
        session.append(
            Arrays.copyOf(prompt, ROWS),
            StateViews.builder()
                .put(K, linear(ByteBuffer.wrap(stored), ROWS * INNER, INNER))
                .build());
        session.promptComplete();
      }
      int taken = 0;
      for (int outerStride = 0; outerStride <= 40; outerStride++) {
        for (int rowStride = INNER; rowStride <= 40; rowStride++) {
          ByteBuffer buffer = ByteBuffer.allocate(CAPACITY);
          TensorView view = linear(buffer, outerStride, rowStride);
          List<Integer> places = places(outerStride, rowStride);
          try (RestoredState restored = ns.match(prompt).restore()) {
            if (overlap(places)) {
              assertThatThrownBy(() -> restored.read(K, view))
                  .as("strides %d and %d", outerStride, rowStride)
                  .isInstanceOf(ViewMismatchException.class);
              continue;
            }
            try {
              restored.read(K, view);
            } catch (ViewMismatchException e) {
              // Neither one after the other nor alternating, though it would do.
              continue;
            }
            restored.finish();
          }
          taken++;
          for (int i = 0; i < places.size(); i++) {
            byte[] row = new byte[INNER];
            buffer.get(places.get(i), row);
            assertThat(row)
                .as("strides %d and %d", outerStride, rowStride)
                .isEqualTo(Arrays.copyOfRange(stored, i * INNER, (i + 1) * INNER));
          }
        }
      }
      assertThat(taken).isGreaterThan(200);
    }
  }

  @Test
  void whatServersHaveIsTaken() {
    ByteBuffer buffer = ByteBuffer.allocate(CAPACITY);
    linear(buffer, ROWS * INNER, INNER).checkWritable(K);
    linear(buffer, INNER, HEADS * INNER).checkWritable(K);
    TensorView.ring(Memory.of(buffer), 0, 5 * INNER, INNER, 5, 1, 3, 9).checkWritable(K);
    TensorView ring = TensorView.ring(Memory.of(buffer), 0, 4 * INNER, INNER, 5, 1, 3, 9);
    assertThatThrownBy(() -> ring.checkWritable(K)).isInstanceOf(ViewMismatchException.class);
    // A source may say that all heads are equal.
    TensorView equal = linear(buffer, 0, INNER);
    equal.checkFits(K);
    assertThatThrownBy(() -> equal.checkWritable(K)).isInstanceOf(ViewMismatchException.class);
  }
}
