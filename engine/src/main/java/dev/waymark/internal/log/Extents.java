package dev.waymark.internal.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A set of byte ranges of a file; neighbours are merged. */
final class Extents {
  private final TreeMap<Long, Long> endByStart = new TreeMap<>();
  private long bytes;

  /** A range {@code [start, end)}. */
  record Extent(long start, long end) {
    long lengthBytes() {
      return end - start;
    }
  }

  void add(long start, long end) {
    if (start >= end) {
      return;
    }
    bytes += end - start;
    Map.Entry<Long, Long> before = endByStart.floorEntry(start);
    long from = start;
    long to = end;
    if (before != null && before.getValue() == start) {
      from = before.getKey();
    }
    Long after = endByStart.remove(end);
    if (after != null) {
      to = after;
    }
    endByStart.put(from, to);
  }

  /** Takes {@code length} bytes out of the smallest range that has them; null if none has. */
  Extent takeSmallest(long least, long most) {
    Map.Entry<Long, Long> best = null;
    for (Map.Entry<Long, Long> entry : endByStart.entrySet()) {
      long length = entry.getValue() - entry.getKey();
      if (length >= least && (best == null || length < best.getValue() - best.getKey())) {
        best = entry;
      }
    }
    if (best == null) {
      return null;
    }
    long start = best.getKey();
    long end = Math.min(best.getValue(), start + most);
    long rest = best.getValue();
    endByStart.remove(start);
    if (end < rest) {
      endByStart.put(end, rest);
    }
    bytes -= end - start;
    return new Extent(start, end);
  }

  long bytes() {
    return bytes;
  }

  List<Extent> list() {
    List<Extent> list = new ArrayList<>();
    endByStart.forEach((start, end) -> list.add(new Extent(start, end)));
    return list;
  }

  void clear() {
    endByStart.clear();
    bytes = 0;
  }

  boolean isEmpty() {
    return endByStart.isEmpty();
  }

  /** Removes and returns the range that ends there, or null. */
  Extent takeLast(long end) {
    Map.Entry<Long, Long> last = endByStart.lastEntry();
    if (last == null || last.getValue() != end) {
      return null;
    }
    endByStart.remove(last.getKey());
    bytes -= end - last.getKey();
    return new Extent(last.getKey(), end);
  }
}
