package dev.waymark.internal.forest;

import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordLocation;
import java.util.List;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * Places of records by row: 12 bytes for the one record that a contribution nearly always is; a
 * list apart for those that were split.
 */
final class RecordColumn {
  private static final int NONE = 0;
  private static final int APART = -1;

  private final IntColumn segments = new IntColumn();
  private final IntColumn pages = new IntColumn();
  private final IntColumn lengths = new IntColumn();
  private final Int2ObjectHashMap<List<RecordLocation>> apart = new Int2ObjectHashMap<>();

  List<RecordLocation> get(int row) {
    int segment = segments.get(row);
    if (segment == NONE) {
      return List.of();
    }
    if (segment == APART) {
      return apart.get(row);
    }
    return List.of(
        new RecordLocation(
            segment, (long) pages.get(row) * Alignment.PAGE_BYTES, lengths.get(row)));
  }

  void forEach(int row, RecordVisitor visitor) {
    int segment = segments.get(row);
    if (segment == APART) {
      for (RecordLocation at : apart.get(row)) {
        visitor.visit(at.segmentId(), at.offsetBytes(), at.lengthBytes());
      }
    } else if (segment != NONE) {
      visitor.visit(segment, (long) pages.get(row) * Alignment.PAGE_BYTES, lengths.get(row));
    }
  }

  void set(int row, List<RecordLocation> records) {
    if (!apart.isEmpty()) {
      apart.remove(row);
    }
    if (records.isEmpty()) {
      segments.set(row, NONE);
    } else if (records.size() == 1 && fits(records.get(0))) {
      RecordLocation only = records.get(0);
      segments.set(row, (int) only.segmentId());
      pages.set(row, (int) (only.offsetBytes() / Alignment.PAGE_BYTES));
      lengths.set(row, (int) only.lengthBytes());
    } else {
      segments.set(row, APART);
      apart.put(row, List.copyOf(records));
    }
  }

  boolean isEmpty(int row) {
    return segments.get(row) == NONE;
  }

  long lengthBytes(int row) {
    int segment = segments.get(row);
    if (segment == NONE) {
      return 0;
    }
    if (segment != APART) {
      return lengths.get(row);
    }
    return apart.get(row).stream().mapToLong(RecordLocation::lengthBytes).sum();
  }

  long pageBytes(int row) {
    if (segments.get(row) != APART) {
      return Alignment.toPage(lengthBytes(row));
    }
    return apart.get(row).stream().mapToLong(at -> Alignment.toPage(at.lengthBytes())).sum();
  }

  private static boolean fits(RecordLocation location) {
    return location.segmentId() <= Integer.MAX_VALUE
        && location.lengthBytes() <= Integer.MAX_VALUE
        && location.offsetBytes() / Alignment.PAGE_BYTES <= Integer.MAX_VALUE;
  }
}
