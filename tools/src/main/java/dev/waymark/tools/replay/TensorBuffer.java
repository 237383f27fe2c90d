package dev.waymark.tools.replay;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Memory;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What one tensor holds of the prefix that is being worked on, as a server's own cache would: a
 * restore fills it, a prefill goes on from there. The memory is kept from request to request and
 * grows only where a longer request needs more.
 */
abstract sealed class TensorBuffer permits RowsBuffer, WindowBuffer, FixedBuffer {
  /** Stands where nothing was restored: what a request before left there could pass for right. */
  private static final byte SCRUBBED = 0x5A;

  final SyntheticState source;
  final int tensor;
  final TensorSpec spec;
  final long inner;
  private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
  private Memory memory = Memory.of();
  private int usedBytes;

  TensorBuffer(SyntheticState source, int tensor, TensorSpec spec) {
    this.source = source;
    this.tensor = tensor;
    this.spec = spec;
    this.inner = spec.innerBytes();
  }

  static TensorBuffer of(SyntheticState source, int tensor, TensorSpec spec) {
    if (spec.growth() instanceof Growth.Window window) {
      return new WindowBuffer(source, tensor, spec, window);
    }
    return spec.isFixed()
        ? new FixedBuffer(source, tensor, spec)
        : new RowsBuffer(source, tensor, spec);
  }

  /** Makes room for a prefix of so many tokens; what it held is void. */
  abstract void begin(int tokens);

  /** Where a restore is to put the state after so many tokens. */
  abstract TensorView restoring(int tokens);

  /**
   * Compares what a restore put here with what belongs here.
   *
   * @return -1, or where the first wrong byte stands among those of the state
   */
  abstract long firstMismatch(BlockSeeds seeds, int tokens);

  /**
   * Goes on to the state after {@code to} tokens.
   *
   * @param from where the state is now
   * @param stored tokens whose rows are stored: the view does not hold them, nor are they made
   * @return a view that holds right bytes only, and all that may be asked for
   */
  abstract TensorView advance(BlockSeeds seeds, int from, int stored, int to);

  /** The memory, for those who look at it or spoil it. */
  final UnsafeBuffer buffer() {
    return buffer;
  }

  final Memory memory() {
    return memory;
  }

  /** Overwrites what a request before left here. */
  final void scrub() {
    buffer.setMemory(0, usedBytes, SCRUBBED);
  }

  /** Makes room for {@code rows} rows at each outer position. */
  final void reserve(long rows) {
    long bytes;
    try {
      bytes = spec.bytesOfRows(rows);
    } catch (ArithmeticException e) {
      bytes = Long.MAX_VALUE;
    }
    if (bytes > Integer.MAX_VALUE - 8) {
      throw tooLarge(bytes);
    }
    usedBytes = (int) bytes;
    if (usedBytes > buffer.capacity()) {
      // Half as much again, lest a trace of ever longer requests allocates at each of them.
      int capacity = (int) Math.min(Integer.MAX_VALUE - 8, bytes + bytes / 2);
      ByteBuffer grown;
      try {
        grown = ByteBuffer.allocateDirect(capacity);
      } catch (OutOfMemoryError e) {
        throw tooLarge(bytes);
      }
      buffer.wrap(grown);
      memory = Memory.of(grown);
    }
  }

  private InvalidSettingException tooLarge(long bytes) {
    return new InvalidSettingException(
        ErrorDetail.of("a request's state of tensor '" + spec.name() + "' does not fit in memory")
            .found(bytes + " bytes")
            .remedy("raise --scale, or -XX:MaxDirectMemorySize"));
  }
}
