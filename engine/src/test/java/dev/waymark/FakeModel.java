package dev.waymark;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import java.util.Random;

/**
 * Stands for a model: every byte of its state follows from the tokens before it, so that any
 * restore can be checked with nothing kept.
 */
final class FakeModel {
  private static final long EXPONENTS = 0x3F00_3F00_3F00_3F00L;
  private static final long MANTISSAS = 0x01FF_01FF_01FF_01FFL;

  private final Layout layout;

  FakeModel(Layout layout) {
    this.layout = layout;
  }

  Layout layout() {
    return layout;
  }

  /** What stands for a prompt's prefixes: one number for each length. */
  static long[] prefixes(int[] tokens) {
    long[] prefixes = new long[tokens.length + 1];
    prefixes[0] = 0x9E37_79B9L;
    for (int i = 0; i < tokens.length; i++) {
      prefixes[i + 1] = mix(prefixes[i] * 31 + tokens[i]);
    }
    return prefixes;
  }

  /** The bytes of one row at one outer position; of a fixed tensor its whole value, as row 0. */
  void fill(TensorSpec spec, int outer, long row, long at, long[] prefixes, byte[] into) {
    long state;
    if (spec.growth() instanceof Growth.Rows rows) {
      state = prefixes[(int) ((row + 1) * rows.tokensPerRow())];
    } else {
      state = prefixes[(int) (spec.isFixed() ? at : row + 1)];
    }
    int tensor = layout.indexOf(spec.name());
    long word = mix(state ^ mix(tensor * 0x1_0000_0001L + outer));
    for (int i = 0; i < into.length; i++) {
      if (i % 8 == 0) {
        word = mix(word + i);
        // Every other tensor looks like bf16 near 1, so that codecs have something to gain.
        word = tensor % 2 == 0 ? word : (word & MANTISSAS) | EXPONENTS;
      }
      into[i] = (byte) (word >>> (8 * (i % 8)));
    }
  }

  /** The state after {@code end} tokens as a server may hold it: any strides, rings, pieces. */
  StateViews views(Random random, int[] tokens, int from, int end, boolean withPoint) {
    long[] prefixes = prefixes(tokens);
    StateViews.Builder builder = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      boolean rows = spec.growth() instanceof Growth.Rows;
      boolean sinks = spec.growth() instanceof Growth.Window w && from < w.sinkTokens();
      if (rows || withPoint || sinks) {
        CallerTensor tensor = CallerTensor.source(random, spec, from, end);
        write(tensor, end, prefixes);
        builder.put(spec, tensor.view());
      }
    }
    return builder.build();
  }

  /** All of the state after the tokens, in the plainest form. */
  StateViews plainViews(int[] tokens, int end) {
    long[] prefixes = prefixes(tokens);
    StateViews.Builder builder = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      CallerTensor tensor = CallerTensor.plain(spec, end);
      write(tensor, end, prefixes);
      builder.put(spec, tensor.view());
    }
    return builder.build();
  }

  void write(CallerTensor tensor, int end, long[] prefixes) {
    TensorSpec spec = tensor.spec();
    byte[] bytes = new byte[tensor.cellBytes()];
    for (int outer = 0; outer < spec.outer() && bytes.length > 0; outer++) {
      for (long row : tensor.rows()) {
        fill(spec, outer, row, end, prefixes, bytes);
        tensor.put(outer, row, bytes);
      }
    }
  }

  /** Reads all of a restored state into memory of any form, and compares every byte. */
  void assertRestores(Random random, PrefixMatch match, int at, int[] tokens) {
    try (RestoredState state = match.restore(at)) {
      assertRestores(random, state, tokens);
    }
  }

  /** Reads all of a restored state into memory of any form, and compares every byte. */
  void assertRestores(Random random, RestoredState state, int[] tokens) {
    int at = state.tokens();
    long[] prefixes = prefixes(tokens);
    CallerTensor[] targets = new CallerTensor[layout.tensors().size()];
    StateViews.Builder views = StateViews.builder();
    boolean together = random.nextBoolean();
    for (int i = 0; i < targets.length; i++) {
      TensorSpec spec = layout.tensors().get(i);
      targets[i] = CallerTensor.target(random, spec, at);
      views.put(spec, targets[i].view());
      if (!together) {
        state.read(spec, targets[i].view());
      }
    }
    if (together) {
      state.read(views.build());
    }
    RestoredState.Restored restored = state.finish();
    if (restored.tokens() != at) {
      throw new AssertionError("restored " + restored.tokens() + ", asked for " + at);
    }
    for (CallerTensor target : targets) {
      compare(target, at, prefixes);
    }
  }

  private void compare(CallerTensor target, int at, long[] prefixes) {
    TensorSpec spec = target.spec();
    byte[] expected = new byte[target.cellBytes()];
    byte[] found = new byte[expected.length];
    for (int outer = 0; outer < spec.outer() && expected.length > 0; outer++) {
      for (long row : wanted(spec, at)) {
        fill(spec, outer, row, at, prefixes, expected);
        target.get(outer, row, found);
        int differs = java.util.Arrays.mismatch(expected, found);
        if (differs >= 0) {
          throw new AssertionError(
              "restored at %d: byte %d of row %d at outer %d of %s differs"
                  .formatted(at, differs, row, outer, spec));
        }
      }
    }
  }

  /** Rows that a restore has to give: all; of a window its last and its sinks. */
  static long[] wanted(TensorSpec spec, int at) {
    if (spec.isFixed()) {
      return new long[] {0};
    }
    long end = spec.rowsAfter(at);
    java.util.stream.LongStream rows = java.util.stream.LongStream.range(0, end);
    if (spec.growth() instanceof Growth.Window w) {
      rows = rows.filter(row -> row < w.sinkTokens() || row >= end - w.windowTokens());
    }
    return rows.toArray();
  }

  static long mix(long value) {
    long z = value + 0x9E37_79B9_7F4A_7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
    return z ^ (z >>> 31);
  }
}
