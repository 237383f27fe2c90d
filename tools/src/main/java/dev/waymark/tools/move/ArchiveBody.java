package dev.waymark.tools.move;

import dev.waymark.StoreReader;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.RowRange;
import dev.waymark.StoreReader.Share;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * Where what in the body of a boundary's record: its rows, then its window rows, then its fixed
 * state; each tensor by tensor in the layout's order, {@code [outer][rows][inner]} without gaps.
 */
final class ArchiveBody {
  private ArchiveBody() {}

  /**
   * One tensor's rows in a body.
   *
   * @param offsetBytes from the body's first byte
   */
  record Part(Share share, TensorSpec spec, RowRange rows, long offsetBytes, long lengthBytes) {}

  /**
   * The parts that are not empty, in order.
   *
   * @throws ArithmeticException if sizes overflow
   */
  static List<Part> parts(Layout layout, Boundary boundary) {
    List<Part> parts = new ArrayList<>();
    long at = 0;
    for (Share share : Share.values()) {
      for (TensorSpec spec : layout.tensors()) {
        RowRange rows = StoreReader.ownRows(boundary, share, spec);
        long length = spec.bytesOfRows(rows.count());
        if (length > 0) {
          parts.add(new Part(share, spec, rows, at, length));
          at = Math.addExact(at, length);
        }
      }
    }
    return parts;
  }

  static long lengthBytes(List<Part> parts) {
    if (parts.isEmpty()) {
      return 0;
    }
    Part last = parts.get(parts.size() - 1);
    return last.offsetBytes() + last.lengthBytes();
  }
}
