package dev.waymark.internal.log;

import dev.waymark.layout.PartRange;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts a contribution that is larger than a record may be into several, by tensors, then by outer
 * ranges, then by row ranges. Pure: the same contribution and limit give the same pieces.
 */
public final class RecordSplitter {
  private static final int MAX_ENTRIES = 60_000;

  private RecordSplitter() {}

  /** The pieces of a contribution, each at most {@code maxRecordBytes} with its padding. */
  public static List<RecordPlan> split(RecordPlan whole, long maxRecordBytes) {
    if (fits(whole, maxRecordBytes)) {
      return List.of(whole);
    }
    List<List<PartPlan>> pieces = new ArrayList<>();
    List<PartPlan> open = new ArrayList<>();
    long openBytes = 0;
    int openEntries = 0;
    // Half the limit bounds a cut part, so that a piece is never left nearly empty by one that
    // just does not fit.
    for (PartPlan part : cut(whole.parts(), maxRecordBytes)) {
      long bytes = cost(part);
      int entries = 1 + part.chunkCount();
      if (!open.isEmpty()
          && (openBytes + bytes > usable(maxRecordBytes) || openEntries + entries > MAX_ENTRIES)) {
        pieces.add(open);
        open = new ArrayList<>();
        openBytes = 0;
        openEntries = 0;
      }
      open.add(part);
      openBytes += bytes;
      openEntries += entries;
    }
    pieces.add(open);
    List<RecordPlan> plans = new ArrayList<>();
    for (List<PartPlan> parts : pieces) {
      plans.add(whole.withPieces(plans.size(), pieces.size(), List.copyOf(parts)));
    }
    return plans;
  }

  private static boolean fits(RecordPlan plan, long maxRecordBytes) {
    return plan.maxBytes() <= maxRecordBytes
        && plan.parts().size() <= MAX_ENTRIES
        && plan.chunkCount() <= MAX_ENTRIES;
  }

  private static long usable(long maxRecordBytes) {
    return maxRecordBytes - Alignment.PAGE_BYTES;
  }

  private static long cost(PartPlan part) {
    return Alignment.toPart(part.rawBytes())
        + RecordPlan.frontBytes(1, part.chunkCount())
        - RecordPlan.frontBytes(0, 0);
  }

  private static List<PartPlan> cut(List<PartPlan> parts, long maxRecordBytes) {
    List<PartPlan> small = new ArrayList<>();
    long limit = usable(maxRecordBytes) / 2;
    for (PartPlan part : parts) {
      if (cost(part) <= limit) {
        small.add(part);
        continue;
      }
      long outerBytes = part.rawBytes() / part.range().outerCount();
      if (outerBytes <= limit / 2) {
        int step = (int) Math.max(1, limit / 2 / Math.max(1, outerBytes));
        cutOuter(part, step, small);
      } else {
        List<PartPlan> lanes = new ArrayList<>();
        cutOuter(part, 1, lanes);
        for (PartPlan lane : lanes) {
          cutRows(lane, limit / 2, usable(maxRecordBytes), small);
        }
      }
    }
    return small;
  }

  private static void cutOuter(PartPlan part, int step, List<PartPlan> into) {
    PartRange range = part.range();
    for (int done = 0; done < range.outerCount(); done += step) {
      int count = Math.min(step, range.outerCount() - done);
      into.add(
          part.withRange(
              new PartRange(range.outerFrom() + done, count, range.rowFrom(), range.rowCount())));
    }
  }

  /**
   * A row codec keeps one scale for each row of a fixed tensor: none is cut in two that fits a
   * record. The pieces of one that does not are shorter than it, so that the codec leaves them raw.
   */
  private static void cutRows(PartPlan lane, long limit, long most, List<PartPlan> into) {
    PartRange range = lane.range();
    long step = Math.max(1, limit / lane.spec().innerBytes());
    if (lane.spec().isFixed()) {
      long row = Math.max(1, lane.spec().rowWidth());
      if (step > row) {
        step -= step % row;
      } else if (row <= range.rowCount() && cost(rows(lane, 0, row)) <= most) {
        step = row;
      }
    }
    for (long done = 0; done < range.rowCount(); done += step) {
      long count = Math.min(step, range.rowCount() - done);
      into.add(rows(lane, done, count));
    }
  }

  private static PartPlan rows(PartPlan lane, long from, long count) {
    PartRange range = lane.range();
    return lane.withRange(new PartRange(range.outerFrom(), 1, range.rowFrom() + from, count));
  }
}
