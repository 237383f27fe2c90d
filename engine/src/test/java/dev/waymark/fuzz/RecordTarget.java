package dev.waymark.fuzz;

import dev.waymark.error.CorruptionException;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.layout.Layout;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/** A record, read with one of a few layouts: its front, its chunks, and every row of its parts. */
public final class RecordTarget {
  /** The place that the manifest names is as long as the record says; else as the input is. */
  static final int OWN_LENGTH = 0x10;

  static final int SEGMENT_ID = 1;
  private static final int OFFSET_BYTES = 4096;

  /** A part can state any number of rows; these are as many bytes as the target has room for. */
  private static final int MOST_PART_BYTES = 1 << 16;

  private static final List<Layout> LAYOUTS = Corpora.layouts();
  private static final Scratch.Pool SCRATCHES = new Scratch.Pool(1);

  private RecordTarget() {}

  /** Called by Jazzer. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length < 2) {
      return;
    }
    int length = input.length - 2;
    byte[] record = new byte[length];
    System.arraycopy(input, 2, record, 0, length);
    Sealer.record(record, SEGMENT_ID, input[0]);
    byte[] file = new byte[OFFSET_BYTES + ((length + OFFSET_BYTES - 1) & -OFFSET_BYTES)];
    System.arraycopy(record, 0, file, OFFSET_BYTES, length);
    long stated =
        (input[0] & OWN_LENGTH) != 0 && length >= 48
            ? new UnsafeBuffer(record).getLong(40, ByteOrder.LITTLE_ENDIAN)
            : length;
    Layout layout = LAYOUTS.get((input[1] & 0xFF) % LAYOUTS.size());
    try (Scratch scratch = SCRATCHES.take()) {
      RecordReader reader = new RecordReader(MemoryDirectory.region(file), "append-1.seg", scratch);
      RecordLocation location = new RecordLocation(SEGMENT_ID, OFFSET_BYTES, stated);
      reader.namespaceOf(location);
      RecordHeader header = reader.header(location, layout);
      reader.verify(header);
      for (RecordHeader.Part part : header.parts()) {
        rows(reader, header, part);
      }
    } catch (CorruptionException e) {
      // As declared.
    }
  }

  private static void rows(RecordReader reader, RecordHeader header, RecordHeader.Part part) {
    TensorSpec spec = part.spec();
    PartRange range = part.range();
    long end = range.rowFrom() + range.rowCount();
    long most = MOST_PART_BYTES / Math.max(1, spec.outer() * spec.innerBytes());
    long from = Math.max(range.rowFrom(), end - most);
    if (from >= end) {
      return;
    }
    long bytes = spec.outer() * (end - from) * spec.innerBytes();
    ByteBuffer target = ByteBuffer.allocate((int) bytes);
    if (spec.isFixed()) {
      if (from > 0 || end != spec.rowsAfter(1)) {
        return;
      }
    }
    TensorView view =
        spec.isFixed()
            ? TensorView.value(spec, target)
            : TensorView.packed(spec, target, from, end);
    long given = reader.readPart(header, part, view, from, end, true);
    if (given != (end - from) * range.outerCount()) {
      throw new AssertionError(given + " rows of " + range + " were given");
    }
  }
}
