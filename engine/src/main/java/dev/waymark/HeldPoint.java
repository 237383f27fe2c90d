package dev.waymark;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A copy of the window and the fixed state at the newest boundary of a session that generates
 * tokens, replaced at each block and written when the session closes: so that what is overtaken a
 * moment later never reaches the disk.
 */
final class HeldPoint {
  private static final int STEP_BYTES = 1 << 20;

  private final Layout layout;
  private final Map<String, ByteBuffer> buffers = new HashMap<>();
  private int tokens;

  HeldPoint(Layout layout) {
    this.layout = layout;
  }

  /** Whether what is held of each tensor fits a buffer of its own, which is below 2 GiB. */
  static boolean fits(Layout layout) {
    for (TensorSpec spec : layout.tensors()) {
      if (mostBytes(spec) > Integer.MAX_VALUE) {
        return false;
      }
    }
    return true;
  }

  private static long mostBytes(TensorSpec spec) {
    return spec.bytesOfRows(rows(spec, Integer.MAX_VALUE));
  }

  /** Bytes of memory that one takes. */
  static long bytes(Layout layout) {
    return layout.fixedBytes() + layout.windowBytes(0, Integer.MAX_VALUE);
  }

  int tokens() {
    return tokens;
  }

  /** Takes the memory that a copy at a boundary needs; what is held stays as it is. */
  void makeRoom(int at) {
    for (TensorSpec spec : layout.tensors()) {
      long bytes = spec.bytesOfRows(rows(spec, at));
      if (bytes > 0) {
        ByteBuffer buffer = buffers.get(spec.name());
        if (buffer == null) {
          buffers.put(spec.name(), allocate(spec, bytes));
        } else if (buffer.capacity() < bytes) {
          // A window grows with every block until it is full.
          buffers.put(
              spec.name(),
              allocate(spec, Math.max(bytes, 2L * buffer.capacity())).put(buffer).clear());
        }
      }
    }
  }

  private static ByteBuffer allocate(TensorSpec spec, long bytes) {
    return ByteBuffer.allocateDirect(Math.toIntExact(Math.min(bytes, mostBytes(spec))));
  }

  /** Copies the caller's state at a boundary, for which there is room. */
  void replace(int at, StateViews views) {
    tokens = 0;
    for (TensorSpec spec : layout.tensors()) {
      long rows = rows(spec, at);
      if (spec.bytesOfRows(rows) > 0) {
        copy(spec, views.require(spec), new PartRange(0, spec.outer(), firstRow(spec, at), rows));
      }
    }
    tokens = at;
  }

  /** Views of the copy. */
  StateViews views() {
    StateViews.Builder builder = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      ByteBuffer buffer = buffers.get(spec.name());
      if (buffer != null) {
        long from = firstRow(spec, tokens);
        long rows = rows(spec, tokens);
        builder.put(
            spec,
            TensorView.linear(
                Memory.of(buffer),
                0,
                rows * spec.innerBytes(),
                spec.innerBytes(),
                from,
                from + rows));
      }
    }
    return builder.build();
  }

  /** First row that is copied of a tensor. */
  private static long firstRow(TensorSpec spec, int at) {
    return spec.growth() instanceof Growth.Window window ? Layout.windowStart(window, 0, at) : 0;
  }

  private static long rows(TensorSpec spec, int at) {
    return spec.growth() instanceof Growth.Rows ? 0 : spec.rowsAfter(at) - firstRow(spec, at);
  }

  private void copy(TensorSpec spec, TensorView view, PartRange range) {
    int bytes = Math.toIntExact(range.rawBytes(spec));
    UnsafeBuffer target = new UnsafeBuffer(buffers.get(spec.name()));
    // In 64 bits, since a step beyond the last one need not be an int.
    for (long done = 0; done < bytes; done += STEP_BYTES) {
      int step = (int) Math.min(STEP_BYTES, bytes - done);
      view.gather(spec, range, done, target, (int) done, step);
    }
  }
}
