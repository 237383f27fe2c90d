package dev.waymark;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Memory;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.agrona.BufferUtil;

/**
 * One tensor in memory as a server may hold it, with the view of it that the store is given. Finds
 * the place of a row by its own arithmetic, so as to be a check of the view's.
 */
final class CallerTensor {
  private final TensorSpec spec;
  private final List<ByteBuffer> pieces = new ArrayList<>();
  private long offset;
  private long outerStride;
  private long rowStride;
  private long firstRow;
  private final long endRow;
  private long sinkRows;
  private long ringRows;
  private long writeSlot;
  private TensorView view;

  private CallerTensor(TensorSpec spec, long endRow) {
    this.spec = spec;
    this.endRow = endRow;
  }

  /** All rows in order, nothing between them. */
  static CallerTensor plain(TensorSpec spec, int end) {
    CallerTensor tensor = new CallerTensor(spec, spec.rowsAfter(end));
    tensor.linear(null, 0);
    return tensor;
  }

  /** What an append of the tokens {@code [from, end)} may be given. */
  static CallerTensor source(Random random, TensorSpec spec, int from, int end) {
    CallerTensor tensor = new CallerTensor(spec, spec.rowsAfter(end));
    if (spec.growth() instanceof Growth.Window window) {
      tensor.window(random, window, from >= window.sinkTokens());
    } else {
      tensor.linear(random, spec.isFixed() ? 0 : random.nextLong(spec.rowsAfter(from) + 1));
    }
    return tensor;
  }

  /** What a restore at {@code at} tokens may be given. */
  static CallerTensor target(Random random, TensorSpec spec, int at) {
    CallerTensor tensor = new CallerTensor(spec, spec.rowsAfter(at));
    if (spec.growth() instanceof Growth.Window window) {
      tensor.window(random, window, window.sinkTokens() == 0);
    } else {
      tensor.linear(random, 0);
    }
    return tensor;
  }

  /** A rotating cache that holds {@code sinks} first rows and a ring, its next slot given. */
  static CallerTensor ring(TensorSpec spec, long capacity, long sinks, long writeSlot, long end) {
    CallerTensor tensor = new CallerTensor(spec, end);
    tensor.ring(null, capacity, sinks, writeSlot);
    return tensor;
  }

  private void window(Random random, Growth.Window window, boolean sinksApart) {
    long needed = Math.max(0, endRow - window.windowTokens());
    if (random.nextInt(3) == 0) {
      linear(random, sinksApart && random.nextBoolean() ? random.nextLong(needed + 1) : 0);
      return;
    }
    long sinks = sinksApart && random.nextBoolean() ? 0 : window.sinkTokens() + random.nextInt(3);
    long least = Math.max(1, Math.min(window.windowTokens(), endRow - sinks));
    long capacity = sinks + least + random.nextInt(window.windowTokens() + 2);
    long slot = endRow;
    if (endRow >= capacity) {
      slot = sinks + random.nextLong(capacity - sinks + 1);
    }
    ring(random, capacity, sinks, slot);
  }

  private void linear(Random random, long from) {
    firstRow = from;
    strides(random, endRow - from);
    long end = offset + outerStride * Math.max(0, spec.outer() - 1) + laneBytes(endRow - from);
    Memory memory = allocate(random, end);
    view =
        spec.isFixed()
            ? TensorView.value(spec, memory, offset)
            : TensorView.linear(memory, offset, outerStride, rowStride, firstRow, endRow);
  }

  private void ring(Random random, long capacity, long sinks, long slot) {
    sinkRows = sinks;
    ringRows = capacity - sinks;
    writeSlot = slot;
    firstRow = endRow - Math.min(Math.max(0, endRow - sinks), ringRows);
    strides(random, capacity);
    long end = offset + outerStride * Math.max(0, spec.outer() - 1) + laneBytes(capacity);
    view =
        TensorView.ring(
            allocate(random, end),
            offset,
            outerStride,
            rowStride,
            capacity,
            sinks,
            writeSlot,
            endRow);
  }

  private void strides(Random random, long rows) {
    rowStride = spec.innerBytes();
    if (random != null) {
      offset = random.nextInt(9);
      if (!spec.isFixed() && random.nextBoolean()) {
        rowStride += random.nextInt(7);
      }
    }
    outerStride = laneBytes(rows) + (random == null ? 0 : random.nextInt(11));
  }

  private long laneBytes(long rows) {
    return rows == 0 ? 0 : (rows - 1) * rowStride + spec.innerBytes();
  }

  private Memory allocate(Random random, long bytes) {
    int left = Math.toIntExact(bytes);
    if (random == null) {
      pieces.add(ByteBuffer.allocate(left));
      return Memory.of(pieces);
    }
    if (random.nextInt(4) == 0) {
      ByteBuffer direct = ByteBuffer.allocateDirect(left + 1);
      pieces.add(direct);
      return Memory.ofAddress(BufferUtil.address(direct), left, direct);
    }
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      int length = i == count - 1 ? left : random.nextInt(left + 1);
      int lead = random.nextInt(5);
      ByteBuffer whole =
          random.nextBoolean()
              ? ByteBuffer.allocate(lead + length + 3)
              : ByteBuffer.allocateDirect(lead + length + 3);
      whole.position(lead).limit(lead + length);
      pieces.add(random.nextBoolean() ? whole.slice() : whole);
      left -= length;
    }
    return Memory.of(pieces);
  }

  TensorSpec spec() {
    return spec;
  }

  TensorView view() {
    return view;
  }

  /** Bytes of what {@link #put} puts: a row, or the whole value of a fixed tensor. */
  int cellBytes() {
    return Math.toIntExact(spec.isFixed() ? spec.bytesOfRows(endRow) : spec.innerBytes());
  }

  /** Rows for which there is room. */
  long[] rows() {
    if (spec.isFixed()) {
      return new long[] {0};
    }
    LongStream sinks = LongStream.range(0, Math.min(sinkRows, firstRow));
    return LongStream.concat(sinks, LongStream.range(firstRow, endRow)).toArray();
  }

  void put(int outer, long row, byte[] bytes) {
    move(outer, row, bytes, true);
  }

  void get(int outer, long row, byte[] bytes) {
    move(outer, row, bytes, false);
  }

  private void move(int outer, long row, byte[] bytes, boolean in) {
    long at = offset + outer * outerStride + slot(row) * rowStride;
    int done = 0;
    for (ByteBuffer piece : pieces) {
      int length = piece.remaining();
      if (at < length && done < bytes.length) {
        int run = (int) Math.min(length - at, bytes.length - done);
        int index = piece.position() + (int) at;
        if (in) {
          piece.put(index, bytes, done, run);
        } else {
          piece.get(index, bytes, done, run);
        }
        done += run;
        at += run;
      }
      at -= length;
    }
    if (done < bytes.length) {
      throw new AssertionError("row " + row + " of " + spec + " lies outside the memory");
    }
  }

  private long slot(long row) {
    if (spec.isFixed()) {
      return 0;
    }
    if (ringRows == 0) {
      return row - firstRow;
    }
    if (row < sinkRows) {
      return row;
    }
    // Walk back from the slot that would be written next.
    long back = (endRow - row) % ringRows;
    long slot = writeSlot - back;
    return slot < sinkRows ? slot + ringRows : slot == sinkRows + ringRows ? sinkRows : slot;
  }
}
