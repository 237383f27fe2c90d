package dev.waymark;

import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordPlan;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.retain.PointPlan;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.List;

/**
 * What a prefill will make the segments grow by: an upper bound, known before its first byte. Pure.
 *
 * <p>Bound: records at their size without compression, in whole pages, with a point wherever the
 * plan wants one; the pages that each segment has of its own; for each of the two streams a run
 * that is not filled.
 */
final class PrefillEstimate {
  private static final BoundaryKey ANY_KEY = new BoundaryKey(0, 0, 0, 0);

  private final NamespaceState namespace;
  private final Layout layout;
  private final RecordPlans records;
  private final SegmentSizing sizing;
  private final int uniformFrom;
  private long uniformRowBytes = -1;

  PrefillEstimate(NamespaceState namespace, SegmentSizing sizing) {
    this.namespace = namespace;
    this.layout = namespace.layout();
    this.records = new RecordPlans(namespace, sizing.maxRecordBytes());
    this.sizing = sizing;
    this.uniformFrom = uniformFrom(layout);
  }

  /** From here on, every block adds as many rows as the one before; never, where that varies. */
  private static int uniformFrom(Layout layout) {
    int from = 0;
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Rows rows
          && layout.blockTokens() % rows.tokensPerRow() != 0) {
        return Integer.MAX_VALUE;
      }
      if (spec.growth() instanceof Growth.Window window) {
        from = Math.max(from, window.sinkTokens());
      }
    }
    return from;
  }

  /**
   * Bytes of all records.
   *
   * @param startTokens the restore point that it starts from
   * @param storedTokens boundaries up to here have their rows
   * @param points a plan of its own, which this uses up
   */
  long recordBytes(int startTokens, int storedTokens, int expectedTokens, PointPlan points) {
    int block = layout.blockTokens();
    int end = expectedTokens / block * block;
    int lastPoint = startTokens;
    long bytes = 0;
    for (int to = startTokens + block; to <= end; to += block) {
      if (to > storedTokens) {
        bytes += rowBytes(to - block, to);
      }
      if (points.wants(to)) {
        int covered = Math.max(layout.windowFrom(to), lastPoint);
        bytes += pages(records.delta(ANY_KEY, ANY_KEY, to - block, to, covered));
        bytes += pages(records.state(ANY_KEY, ANY_KEY, to - block, to));
        points.added(to);
        lastPoint = to;
      }
    }
    return bytes;
  }

  /** What the segments grow by for so many bytes of records. */
  long allocatedBytes(long recordBytes) {
    if (recordBytes == 0) {
      return 0;
    }
    long segments = 2 * (recordBytes / sizing.segmentBytes()) + 4;
    long own = 2 * Alignment.PAGE_BYTES + namespace.descriptor().pageBytes();
    return recordBytes + segments * own + 2 * sizing.runBytes();
  }

  private long rowBytes(int from, int to) {
    if (from < uniformFrom) {
      return pages(records.append(ANY_KEY, ANY_KEY, from, to));
    }
    if (uniformRowBytes < 0) {
      uniformRowBytes = pages(records.append(ANY_KEY, ANY_KEY, from, to));
    }
    return uniformRowBytes;
  }

  private static long pages(List<RecordPlan> plans) {
    long bytes = 0;
    for (RecordPlan plan : plans) {
      bytes += plan.maxBytes();
    }
    return bytes;
  }
}
