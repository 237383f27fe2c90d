package dev.waymark.jmh.load;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/**
 * A prompt and the state that follows from it: the rows of a token, and the fixed state after it,
 * from all tokens up to it. So every restore can be checked with nothing kept.
 */
final class Prompt {
  static final int BLOCK = 256;
  private static final int WINDOW = 512;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private static final TensorSpec ROWS =
      TensorSpec.rows("rows", DType.BF16, 1, TensorSpec.TOKEN_AXIS, 256);
  private static final TensorSpec RECENT =
      TensorSpec.window("recent", DType.BF16, WINDOW, 0, TensorSpec.TOKEN_AXIS, 128);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 16_384);

  static final Layout LAYOUT = Layout.of(BLOCK, ROWS, RECENT, STATE);

  private final int[] tokens;
  private final long[] hashes;

  /**
   * One of a forest of prompts.
   *
   * @param tree prompts of one tree begin alike
   * @param branch those of one branch are alike as far as they go
   */
  Prompt(int tree, int branch, int blocks) {
    tokens = new int[blocks * BLOCK + 1];
    hashes = new long[tokens.length];
    int shared = Math.min(tokens.length, BLOCK * (4 + tree % 8));
    SplittableRandom trunk = new SplittableRandom(tree);
    SplittableRandom rest = new SplittableRandom(tree * 1_000L + branch);
    long hash = 17;
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (i < shared ? trunk : rest).nextInt(50_000);
      hash = mix(hash ^ tokens[i]);
      hashes[i] = hash;
    }
  }

  int[] tokens() {
    return tokens;
  }

  /** State after {@code to} tokens, with the rows of the last block. */
  StateViews views(int to) {
    int from = to - BLOCK;
    int oldest = Math.max(0, to - WINDOW);
    return StateViews.builder()
        .put(ROWS, TensorView.packed(ROWS, rows(ROWS, from, to), from, to))
        .put(RECENT, TensorView.packed(RECENT, rows(RECENT, oldest, to), oldest, to))
        .put(STATE, TensorView.value(STATE, state(to)))
        .build();
  }

  /** Room for the state after {@code to} tokens. */
  static final class Target {
    private final int to;
    private final int oldest;
    private final ByteBuffer rows;
    private final ByteBuffer recent;
    private final ByteBuffer state = ByteBuffer.allocate((int) STATE.bytesOfRows(16_384));

    Target(int to) {
      this.to = to;
      this.oldest = Math.max(0, to - WINDOW);
      this.rows = ByteBuffer.allocate((int) (to * ROWS.innerBytes()));
      this.recent = ByteBuffer.allocate((int) ((to - oldest) * RECENT.innerBytes()));
    }

    StateViews views() {
      return StateViews.builder()
          .put(ROWS, TensorView.packed(ROWS, rows, 0, to))
          .put(RECENT, TensorView.packed(RECENT, recent, oldest, to))
          .put(STATE, TensorView.value(STATE, state))
          .build();
    }

    boolean holds(Prompt prompt) {
      return rows.equals(prompt.rows(ROWS, 0, to))
          && recent.equals(prompt.rows(RECENT, oldest, to))
          && state.equals(prompt.state(to));
    }
  }

  private ByteBuffer rows(TensorSpec spec, int from, int to) {
    int inner = (int) spec.innerBytes();
    ByteBuffer buffer = ByteBuffer.allocate((to - from) * inner).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = from; i < to; i++) {
      long value = hashes[i] ^ inner;
      for (int at = 0; at < inner; at += Long.BYTES) {
        buffer.putLong(value += GOLDEN);
      }
    }
    return buffer.flip();
  }

  private ByteBuffer state(int to) {
    ByteBuffer buffer =
        ByteBuffer.allocate((int) STATE.bytesOfRows(16_384)).order(ByteOrder.LITTLE_ENDIAN);
    long value = hashes[to - 1];
    while (buffer.hasRemaining()) {
      buffer.putLong(value += GOLDEN);
    }
    return buffer.flip();
  }

  private static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
