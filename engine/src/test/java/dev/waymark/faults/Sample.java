package dev.waymark.faults;

import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A prompt, with every byte of its state a function of its tokens: so that whoever checks needs no
 * copy of what was stored, and two sessions that share a prefix agree on it.
 */
final class Sample {
  static final int BLOCK = 16;
  private static final int SINK = 2;
  private static final int WINDOW_TOKENS = 24;
  private static final int OUTER = 2;
  private static final int WINDOW_INNER = 128;
  private static final int STATE_BYTES = 32 * 64 * 4;

  private static final TensorSpec WINDOW =
      TensorSpec.window("window", DType.BF16, WINDOW_TOKENS, SINK, OUTER, -1, WINDOW_INNER / 2);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 32, 64);
  private static final TensorSpec SMALL_ROWS =
      TensorSpec.rows("keys", DType.BF16, 1, OUTER, -1, 128);
  private static final TensorSpec LARGE_ROWS =
      TensorSpec.rows("keys", DType.BF16, 1, OUTER, -1, 4096);

  /** About 30 KiB a block with its point: many to a segment. */
  static final Layout SMALL = Layout.of(BLOCK, SMALL_ROWS, WINDOW, STATE);

  /** A quarter of a MiB a block: few to a segment, so that segments fill and are sealed. */
  static final Layout LARGE = Layout.of(BLOCK, LARGE_ROWS, WINDOW, STATE);

  private final long epoch;
  private final int family;
  private final int branch;
  private final boolean large;
  private final int[] tokens;
  private final byte[] rows;
  private final byte[] window;

  Sample(long epoch, int family, int branch, boolean large, int blocks) {
    this.epoch = epoch;
    this.family = family;
    this.branch = branch;
    this.large = large;
    this.tokens = new int[blocks * BLOCK + 1];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (int) (hash(i) >>> 40);
    }
    this.rows = fill(rowSpec().innerBytes(), 1);
    this.window = fill(WINDOW_INNER, 2);
  }

  String name() {
    return family + "." + branch;
  }

  int family() {
    return family;
  }

  boolean isLarge() {
    return large;
  }

  int blocks() {
    return (tokens.length - 1) / BLOCK;
  }

  /** All its tokens: one more than its blocks, as a prompt whose last logits are wanted. */
  int[] tokens() {
    return tokens;
  }

  int[] tokens(int from, int to) {
    return Arrays.copyOfRange(tokens, from, to);
  }

  /** The state after that many tokens, for an append. */
  StateViews views(int to) {
    return views(rows, window, state(to), to);
  }

  /**
   * Restores a point and compares.
   *
   * @return what is wrong, or null
   */
  String compare(PrefixMatch match, int at) {
    byte[] rowsBack = new byte[rows.length];
    byte[] windowBack = new byte[window.length];
    byte[] stateBack = new byte[STATE_BYTES];
    try (RestoredState restored = match.restore(at)) {
      restored.read(views(rowsBack, windowBack, stateBack, at));
      restored.finish();
    }
    if (!same(rows, rowsBack, rowSpec().innerBytes(), 0, at)) {
      return "rows of " + name() + " at " + at + " tokens";
    }
    if (!same(window, windowBack, WINDOW_INNER, 0, Math.min(SINK, at))
        || !same(window, windowBack, WINDOW_INNER, Math.max(0, at - WINDOW_TOKENS), at)) {
      return "window of " + name() + " at " + at + " tokens";
    }
    return Arrays.equals(stateBack, state(at))
        ? null
        : "state of " + name() + " at " + at + " tokens";
  }

  private TensorSpec rowSpec() {
    return large ? LARGE_ROWS : SMALL_ROWS;
  }

  private StateViews views(byte[] rowBytes, byte[] windowBytes, byte[] stateBytes, int to) {
    return StateViews.builder()
        .put(rowSpec(), linear(rowBytes, rowSpec().innerBytes(), to))
        .put(WINDOW, linear(windowBytes, WINDOW_INNER, to))
        .put(STATE, TensorView.value(STATE, ByteBuffer.wrap(stateBytes)))
        .build();
  }

  private TensorView linear(byte[] bytes, long inner, int to) {
    return TensorView.linear(
        Memory.of(ByteBuffer.wrap(bytes)), 0, tokens.length * inner, inner, 0, to);
  }

  private boolean same(byte[] a, byte[] b, long inner, int from, int to) {
    for (int o = 0; o < OUTER; o++) {
      int start = (int) ((o * (long) tokens.length + from) * inner);
      int end = (int) ((o * (long) tokens.length + to) * inner);
      if (!Arrays.equals(a, start, end, b, start, end)) {
        return false;
      }
    }
    return true;
  }

  /** A branch leaves the family's trunk at a block of its own. */
  private long hash(int token) {
    int leaves = branch == 0 ? Integer.MAX_VALUE : (1 + branch * 5 % 7) * BLOCK;
    return mix(mix(epoch * 31 + family) ^ mix(token * 64L + (token < leaves ? 0 : branch)));
  }

  private byte[] fill(long inner, int salt) {
    ByteBuffer buffer =
        ByteBuffer.allocate((int) (OUTER * tokens.length * inner)).order(ByteOrder.LITTLE_ENDIAN);
    for (int o = 0; o < OUTER; o++) {
      for (int token = 0; token < tokens.length; token++) {
        put(buffer, mix(hash(token) + salt * 17L + o), inner);
      }
    }
    return buffer.array();
  }

  private byte[] state(int to) {
    ByteBuffer buffer = ByteBuffer.allocate(STATE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    put(buffer, mix(hash(to - 1) + to), STATE_BYTES);
    return buffer.array();
  }

  private static void put(ByteBuffer buffer, long seed, long bytes) {
    long value = seed;
    for (long i = 0; i < bytes; i += 8) {
      value = value * 6364136223846793005L + 1442695040888963407L;
      buffer.putLong(value);
    }
  }

  private static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
