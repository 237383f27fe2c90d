package dev.waymark.jmh;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A server's own memory for one prompt: rows with room for more of them, so that heads lie apart,
 * windows as rings, fixed state in place.
 */
final class Cache {
  private static final int PERIOD_BYTES = Long.BYTES * 131_071;

  private final Layout layout;
  private final long[] capacities;
  private final List<ByteBuffer> buffers = new ArrayList<>();

  Cache(Layout layout, int capacityTokens) {
    this.layout = layout;
    this.capacities = new long[layout.tensors().size()];
    for (int i = 0; i < capacities.length; i++) {
      TensorSpec spec = layout.tensors().get(i);
      capacities[i] =
          spec.growth() instanceof Growth.Window window
              ? Math.min(window.windowTokens(), capacityTokens)
              : spec.rowsAfter(capacityTokens);
      buffers.add(direct(spec.bytesOfRows(capacities[i])));
    }
  }

  /** Memory of its own, filled with noise that comes again after an odd number of words. */
  static ByteBuffer direct(long lengthBytes) {
    ByteBuffer buffer =
        ByteBuffer.allocateDirect(Math.toIntExact(lengthBytes)).order(ByteOrder.LITTLE_ENDIAN);
    SplittableRandom random = new SplittableRandom(lengthBytes);
    while (buffer.remaining() >= Long.BYTES && buffer.position() < PERIOD_BYTES) {
      buffer.putLong(random.nextLong());
    }
    while (buffer.hasRemaining() && buffer.position() > 0) {
      buffer.put(buffer.slice(0, Math.min(buffer.position(), buffer.remaining())));
    }
    return buffer.clear();
  }

  StateViews views(int tokens) {
    StateViews.Builder views = StateViews.builder();
    for (int i = 0; i < capacities.length; i++) {
      TensorSpec spec = layout.tensors().get(i);
      views.put(spec, view(spec, buffers.get(i), capacities[i], tokens));
    }
    return views.build();
  }

  private static TensorView view(
      TensorSpec spec, ByteBuffer buffer, long capacityRows, int tokens) {
    if (spec.isFixed()) {
      return TensorView.value(spec, buffer);
    }
    Memory memory = Memory.of(buffer);
    long row = spec.innerBytes();
    long lane = capacityRows * row;
    return spec.growth() instanceof Growth.Window
        ? TensorView.ring(memory, 0, lane, row, capacityRows, 0, tokens % capacityRows, tokens)
        : TensorView.linear(memory, 0, lane, row, 0, spec.rowsAfter(tokens));
  }

  void clear() {
    buffers.forEach(Cache::clear);
  }

  static void clear(ByteBuffer buffer) {
    new UnsafeBuffer(buffer.clear()).setMemory(0, buffer.capacity(), (byte) 0);
  }

  /** Throws if the rows of the first tokens, or a state, are others. */
  void requireEqual(Cache other, int tokens) {
    for (int i = 0; i < capacities.length; i++) {
      TensorSpec spec = layout.tensors().get(i);
      long rows = Math.min(capacities[i], spec.rowsAfter(tokens));
      int length = (int) (rows * spec.innerBytes());
      for (int lane = 0; lane < spec.outer(); lane++) {
        int here = (int) (lane * capacities[i] * spec.innerBytes());
        int there = (int) (lane * other.capacities[i] * spec.innerBytes());
        if (!buffers.get(i).slice(here, length).equals(other.buffers.get(i).slice(there, length))) {
          throw new AssertionError("a restore gave other bytes of " + spec.name());
        }
      }
    }
  }
}
