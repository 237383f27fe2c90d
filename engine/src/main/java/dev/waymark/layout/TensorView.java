package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.ViewMismatchException;
import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Where a tensor's rows lie in the caller's own memory, so that the store gathers from there and
 * scatters to there with nothing in between. Row {@code r} of outer position {@code o} stands at
 * {@code offset + o * outerStride + slot(r) * rowStride}.
 *
 * <p>Rows are counted from the start of the prefix. A linear view holds {@code [firstRow, endRow)}.
 * A ring holds the last rows written and, in front of the ring, the first ones ("sinks") for good;
 * its write slot says where the next row would go, which fixes the place of all others. Of a fixed
 * tensor, elements count as rows.
 */
public final class TensorView {
  private final Memory memory;
  private final long offsetBytes;
  private final long outerStrideBytes;
  private final long rowStrideBytes;
  private final long firstRow;
  private final long endRow;
  private final long capacityRows;
  private final long sinkRows;
  private final long writeSlot;
  private final boolean ring;

  private TensorView(
      Memory memory,
      long offsetBytes,
      long outerStrideBytes,
      long rowStrideBytes,
      long firstRow,
      long endRow,
      long capacityRows,
      long sinkRows,
      long writeSlot,
      boolean ring) {
    this.memory = memory;
    this.offsetBytes = offsetBytes;
    this.outerStrideBytes = outerStrideBytes;
    this.rowStrideBytes = rowStrideBytes;
    this.firstRow = firstRow;
    this.endRow = endRow;
    this.capacityRows = capacityRows;
    this.sinkRows = sinkRows;
    this.writeSlot = writeSlot;
    this.ring = ring;
    if (offsetBytes < 0
        || outerStrideBytes < 0
        || rowStrideBytes < 0
        || firstRow < 0
        || endRow < firstRow) {
      throw new ViewMismatchException(
          ErrorDetail.of("a view is not valid")
              .expected("offsets, strides and rows of 0 or more")
              .found("rows " + firstRow + " to " + endRow));
    }
  }

  /**
   * {@return rows {@code [firstRow, endRow)} in order}
   *
   * @param memory the memory that holds the rows
   * @param offsetBytes where row {@code firstRow} of outer position 0 stands
   * @param outerStrideBytes from one outer position to the next
   * @param rowStrideBytes from one row to the next
   * @param firstRow first row that the view holds
   * @param endRow one past the last row that the view holds
   */
  public static TensorView linear(
      Memory memory,
      long offsetBytes,
      long outerStrideBytes,
      long rowStrideBytes,
      long firstRow,
      long endRow) {
    return new TensorView(
        memory,
        offsetBytes,
        outerStrideBytes,
        rowStrideBytes,
        firstRow,
        endRow,
        endRow - firstRow,
        0,
        0,
        false);
  }

  /**
   * {@return a rotating cache: {@code sinkRows} slots that keep the first rows, then a ring}
   *
   * @param memory the memory that holds the rows
   * @param offsetBytes where slot 0 of outer position 0 stands
   * @param outerStrideBytes from one outer position to the next
   * @param rowStrideBytes from one slot to the next
   * @param capacityRows slots in all, the sinks' included
   * @param sinkRows slots that keep the first rows, 0 or more
   * @param writeSlot slot of the next row to be written, {@code sinkRows} to {@code capacityRows}
   *     (the end stands for the first slot of the ring)
   * @param endRow rows written so far: those of the prefix
   */
  public static TensorView ring(
      Memory memory,
      long offsetBytes,
      long outerStrideBytes,
      long rowStrideBytes,
      long capacityRows,
      long sinkRows,
      long writeSlot,
      long endRow) {
    if (sinkRows < 0
        || capacityRows <= sinkRows
        || writeSlot > capacityRows
        || writeSlot < Math.min(sinkRows, endRow)) {
      throw new ViewMismatchException(
          ErrorDetail.of("a ring is not valid")
              .expected("sinks < capacity, and a write slot between them")
              .found("capacity " + capacityRows + ", sinks " + sinkRows + ", slot " + writeSlot));
    }
    long held = Math.min(Math.max(0, endRow - sinkRows), capacityRows - sinkRows);
    if (endRow < capacityRows && writeSlot != endRow) {
      throw new ViewMismatchException(
          ErrorDetail.of("a ring that is not full has its write slot elsewhere")
              .expected(endRow)
              .found(writeSlot));
    }
    return new TensorView(
        memory,
        offsetBytes,
        outerStrideBytes,
        rowStrideBytes,
        endRow - held,
        endRow,
        capacityRows,
        sinkRows,
        writeSlot,
        true);
  }

  /**
   * {@return the value of a fixed tensor, its elements in order without gaps}
   *
   * @param spec the tensor
   * @param memory the memory that holds it
   * @param offsetBytes where the first byte of the value stands in the memory
   */
  public static TensorView value(TensorSpec spec, Memory memory, long offsetBytes) {
    long elements = spec.rowsAfter(0);
    return linear(memory, offsetBytes, 0, spec.innerBytes(), 0, elements);
  }

  /**
   * {@return the value of a fixed tensor, from a buffer's position on}
   *
   * @param spec the tensor
   * @param buffer the buffer that holds it
   */
  public static TensorView value(TensorSpec spec, ByteBuffer buffer) {
    return value(spec, Memory.of(buffer), 0);
  }

  /**
   * {@return rows {@code [firstRow, endRow)} of a buffer laid out {@code [outer][capacity][inner]},
   * where the capacity follows from the buffer's length}
   *
   * @param spec the tensor
   * @param buffer the buffer that holds them
   * @param firstRow first row that the view holds
   * @param endRow one past the last row that the view holds
   */
  public static TensorView packed(TensorSpec spec, ByteBuffer buffer, long firstRow, long endRow) {
    long inner = spec.innerBytes();
    long lane = spec.outer() == 0 ? 0 : buffer.remaining() / spec.outer();
    return linear(Memory.of(buffer), 0, lane, inner, firstRow, endRow);
  }

  /** {@return the memory that the view looks at} */
  public Memory memory() {
    return memory;
  }

  /** {@return first row that the view holds, its sinks apart} */
  public long firstRow() {
    return firstRow;
  }

  /** {@return one past the last row that the view holds} */
  public long endRow() {
    return endRow;
  }

  /**
   * {@return whether all rows {@code [from, to)} are in the view, as sinks or in the ring}
   *
   * @param from first row
   * @param to one past the last row
   */
  public boolean holds(long from, long to) {
    if (from >= to) {
      return true;
    }
    if (to > endRow) {
      return false;
    }
    return from >= firstRow || (from < sinkRows && (to <= sinkRows || firstRow <= sinkRows));
  }

  /**
   * Checks that rows of the tensor's shape fit the memory. What is only read from may be looked at
   * by several outer positions: a stride of 0 between them says that all are equal.
   *
   * @param spec the tensor
   * @throws ViewMismatchException if the last byte lies outside, or strides overlap rows
   */
  public void checkFits(TensorSpec spec) {
    long inner = spec.innerBytes();
    if (spec.outer() == 0 || inner == 0 || endRow == 0 || capacityRows == 0) {
      return;
    }
    if (capacityRows > 1 && rowStrideBytes < inner) {
      throw new ViewMismatchException(
          ErrorDetail.of("view of tensor '" + spec.name() + "' has overlapping rows")
              .expected("a row stride of at least " + inner + " bytes")
              .found(rowStrideBytes));
    }
    long slots = slots();
    long end;
    try {
      end =
          Math.addExact(
              Math.addExact(offsetBytes, Math.multiplyExact(spec.outer() - 1L, outerStrideBytes)),
              Math.addExact(Math.multiplyExact(slots - 1, rowStrideBytes), inner));
    } catch (ArithmeticException e) {
      end = Long.MAX_VALUE;
    }
    if (end > memory.lengthBytes()) {
      throw new ViewMismatchException(
          ErrorDetail.of("view of tensor '" + spec.name() + "' is too short")
              .expected("at least " + end + " bytes")
              .found(memory.lengthBytes()));
    }
  }

  /**
   * Checks what is to be written to: that it fits, and that no byte of it stands for two. Outer
   * positions lie one after the other, or their rows alternate.
   *
   * @param spec the tensor
   * @throws ViewMismatchException if it does not fit, overlaps itself, or is of read-only memory
   */
  public void checkWritable(TensorSpec spec) {
    checkFits(spec);
    if (!memory.isWritable()) {
      throw new ViewMismatchException(
          ErrorDetail.of("the view of tensor '" + spec.name() + "' is of read-only memory")
              .expected("writable buffers")
              .found("a read-only buffer"));
    }
    long inner = spec.innerBytes();
    if (spec.outer() < 2 || inner == 0 || endRow == 0 || capacityRows == 0) {
      return;
    }
    long laneBytes = (slots() - 1) * rowStrideBytes + inner;
    long acrossBytes = (spec.outer() - 1L) * outerStrideBytes + inner;
    boolean apart = outerStrideBytes >= laneBytes;
    boolean alternate = outerStrideBytes >= inner && rowStrideBytes >= acrossBytes;
    if (!apart && !alternate) {
      throw new ViewMismatchException(
          ErrorDetail.of("view of tensor '" + spec.name() + "' has overlapping outer positions")
              .expected(
                  "an outer stride of at least "
                      + laneBytes
                      + " bytes, or rows so far apart that those of all others lie between")
              .found(outerStrideBytes + ", and a row stride of " + rowStrideBytes));
    }
  }

  /** Places for rows that are in use. */
  private long slots() {
    return ring ? Math.min(capacityRows, Math.max(endRow, 1)) : capacityRows;
  }

  /**
   * Copies raw bytes of a part out of the caller's memory. A part's raw bytes are, outer position
   * by outer position, its rows in order.
   *
   * @param spec the tensor
   * @param part which outer positions and rows the part has
   * @param rawOffset first raw byte of the part that is wanted
   * @param target where the bytes go
   * @param targetIndex first byte there
   * @param length how many bytes
   */
  public void gather(
      TensorSpec spec,
      PartRange part,
      long rawOffset,
      MutableDirectBuffer target,
      int targetIndex,
      int length) {
    transfer(spec, part, rawOffset, target, null, targetIndex, length);
  }

  /**
   * Copies raw bytes of a part into the caller's memory; the inverse of {@link #gather}.
   *
   * @param spec the tensor
   * @param part which outer positions and rows the part has
   * @param rawOffset first raw byte of the part that is meant
   * @param source where the bytes come from
   * @param sourceIndex first byte there
   * @param length how many bytes
   */
  public void scatter(
      TensorSpec spec,
      PartRange part,
      long rawOffset,
      DirectBuffer source,
      int sourceIndex,
      int length) {
    transfer(spec, part, rawOffset, null, source, sourceIndex, length);
  }

  private void transfer(
      TensorSpec spec,
      PartRange part,
      long rawOffset,
      MutableDirectBuffer target,
      DirectBuffer source,
      int index,
      int length) {
    long inner = spec.innerBytes();
    if (length == 0 || inner == 0) {
      return;
    }
    long outerBytes = part.rowCount() * inner;
    long outer = rawOffset / outerBytes;
    long withinOuter = rawOffset % outerBytes;
    long row = withinOuter / inner;
    long withinRow = withinOuter % inner;
    int done = 0;
    while (done < length) {
      long absolute = part.rowFrom() + row;
      long slot = slotOf(absolute);
      long runRows =
          rowStrideBytes == inner
              ? Math.min(part.rowCount() - row, contiguousRows(absolute, slot))
              : 1;
      int run = (int) Math.min(length - done, runRows * inner - withinRow);
      long position =
          offsetBytes
              + (part.outerFrom() + outer) * outerStrideBytes
              + slot * rowStrideBytes
              + withinRow;
      if (target != null) {
        memory.get(position, target, index + done, run);
      } else {
        memory.put(position, source, index + done, run);
      }
      done += run;
      long moved = withinRow + run;
      row += moved / inner;
      withinRow = moved % inner;
      if (row == part.rowCount()) {
        row = 0;
        outer++;
      }
    }
  }

  private long slotOf(long row) {
    if (!ring) {
      return row - firstRow;
    }
    return row < sinkRows ? row : sinkRows + Math.floorMod(ringPosition(row), ringRows());
  }

  private long ringPosition(long row) {
    return writeSlot - sinkRows - (endRow - row);
  }

  private long ringRows() {
    return capacityRows - sinkRows;
  }

  private long contiguousRows(long row, long slot) {
    if (!ring) {
      return endRow - row;
    }
    return row < sinkRows ? sinkRows - row : capacityRows - slot;
  }
}
