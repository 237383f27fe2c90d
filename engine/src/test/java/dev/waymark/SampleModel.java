package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * State that can be made anew from the prompt alone: the row of a token, and the fixed state after
 * it, follow from all tokens up to it. So every restore can be checked with nothing kept.
 */
final class SampleModel {
  static final int BLOCK = 16;

  final Layout layout;
  final ModelIdentity identity;
  private final TensorSpec rows;
  private final TensorSpec window;
  private final TensorSpec state;

  /** A model whose block of rows, whose window row and whose state have those sizes. */
  SampleModel(String weights, int rowBytes, int windowRowBytes, int stateBytes) {
    this.rows = TensorSpec.rows("rows", DType.BF16, 1, 1, -1, rowBytes / 2);
    this.window =
        windowRowBytes == 0
            ? null
            : TensorSpec.window("window", DType.BF16, 24, 2, 1, -1, windowRowBytes / 2);
    this.state = stateBytes == 0 ? null : TensorSpec.fixed("state", DType.F32, stateBytes / 4);
    java.util.List<TensorSpec> specs = new java.util.ArrayList<>();
    specs.add(rows);
    if (window != null) {
      specs.add(window);
    }
    if (state != null) {
      specs.add(state);
    }
    this.layout = Layout.of(BLOCK, specs.toArray(new TensorSpec[0]));
    this.identity = ModelIdentity.builder().weights(weights).build();
  }

  /** Stores a prompt from where the match says, block by block. */
  void store(Namespace ns, int[] tokens, PrefillPlan plan) {
    PrefixMatch match = ns.match(tokens);
    try (PrefillSession session = ns.prefill(match, plan)) {
      appendRest(session, tokens, tokens.length);
      session.promptComplete();
    }
  }

  /** Appends blocks up to the last whole one below {@code toTokens}. */
  void appendRest(PrefillSession session, int[] tokens, int toTokens) {
    while (session.tokens() + BLOCK <= toTokens) {
      int from = session.tokens();
      session.append(Arrays.copyOfRange(tokens, from, from + BLOCK), views(tokens, from + BLOCK));
    }
  }

  /** Views of the whole state after {@code to} tokens. */
  StateViews views(int[] tokens, int to) {
    StateViews.Builder builder = StateViews.builder();
    builder.put(rows, view(rows, content(tokens, rows, to), to));
    if (window != null) {
      builder.put(window, view(window, content(tokens, window, to), to));
    }
    if (state != null) {
      builder.put(state, TensorView.value(state, ByteBuffer.wrap(state(tokens, to))));
    }
    return builder.build();
  }

  /** Restores what the match found, and checks every byte of it. */
  int restoreAndCheck(PrefixMatch match, int[] tokens) {
    try (RestoredState restored = match.restore()) {
      return check(restored, tokens);
    }
  }

  int check(RestoredState restored, int[] tokens) {
    int to = restored.tokens();
    StateViews.Builder builder = StateViews.builder();
    byte[] rowBytes = new byte[(int) (to * rows.innerBytes())];
    builder.put(rows, view(rows, rowBytes, to));
    byte[] windowBytes = window == null ? null : new byte[(int) (to * window.innerBytes())];
    if (window != null) {
      builder.put(window, view(window, windowBytes, to));
    }
    byte[] stateBytes =
        state == null ? null : new byte[(int) state.bytesOfRows(state.rowsAfter(to))];
    if (state != null) {
      builder.put(state, TensorView.value(state, ByteBuffer.wrap(stateBytes)));
    }
    restored.read(builder.build());
    restored.finish();
    assertThat(rowBytes).isEqualTo(content(tokens, rows, to));
    if (window != null) {
      byte[] all = content(tokens, window, to);
      int from = Math.max(0, to - 24) * (int) window.innerBytes();
      assertThat(Arrays.copyOfRange(windowBytes, from, all.length))
          .isEqualTo(Arrays.copyOfRange(all, from, all.length));
    }
    if (state != null) {
      assertThat(stateBytes).isEqualTo(state(tokens, to));
    }
    return to;
  }

  private static TensorView view(TensorSpec spec, byte[] bytes, int to) {
    return TensorView.linear(
        Memory.of(ByteBuffer.wrap(bytes)), 0, to * spec.innerBytes(), spec.innerBytes(), 0, to);
  }

  private static byte[] content(int[] tokens, TensorSpec spec, int to) {
    int inner = (int) spec.innerBytes();
    ByteBuffer buffer = ByteBuffer.allocate(to * inner).order(ByteOrder.LITTLE_ENDIAN);
    long hash = spec.name().hashCode();
    for (int i = 0; i < to; i++) {
      hash = mix(hash ^ tokens[i]);
      for (int at = 0; at + 8 <= inner; at += 8) {
        buffer.putLong(i * inner + at, hash + at * 0x9E3779B97F4A7C15L);
      }
    }
    return buffer.array();
  }

  private byte[] state(int[] tokens, int to) {
    long hash = 17;
    for (int i = 0; i < to; i++) {
      hash = mix(hash ^ tokens[i]);
    }
    ByteBuffer buffer =
        ByteBuffer.allocate((int) state.bytesOfRows(state.rowsAfter(to)))
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at + 8 <= buffer.capacity(); at += 8) {
      buffer.putLong(at, mix(hash + at));
    }
    return buffer.array();
  }

  private static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
