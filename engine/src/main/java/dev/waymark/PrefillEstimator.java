package dev.waymark;

import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordPlan;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.retain.PointPlan;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Counts what a prefill will write, by the plans that its records will be written from. Pure.
 *
 * <p>What segments grow by is an upper bound: records at their size without compression, with a
 * point wherever the plan wants one; the pages that each segment has of its own; for each of the
 * two streams a run that is not filled.
 */
final class PrefillEstimator {
  private static final BoundaryKey ANY_KEY = new BoundaryKey(0, 0, 0, 0);

  private final Layout layout;
  private final CodecPlan codecs;
  private final long descriptorBytes;
  private final RecordPlans records;
  private final SegmentSizing sizing;
  private final StoreOptions options;
  private final int uniformFrom;
  private final int fullWindowsFrom;
  private final Map<Integer, Cost> points = new HashMap<>();
  private Cost uniformRows;

  /**
   * Bytes of records.
   *
   * @param raw payload as the caller has it
   * @param encoded whole pages, where every chunk takes its codec
   * @param most whole pages, where none does
   */
  private record Cost(long raw, long encoded, long most) {
    static final Cost NOTHING = new Cost(0, 0, 0);

    static Cost of(List<RecordPlan> plans) {
      Cost cost = NOTHING;
      for (RecordPlan plan : plans) {
        cost = cost.plus(new Cost(plan.rawBytes(), plan.encodedBytes(), plan.maxBytes()));
      }
      return cost;
    }

    Cost plus(Cost other) {
      return new Cost(raw + other.raw, encoded + other.encoded, most + other.most);
    }
  }

  PrefillEstimator(NamespaceState namespace, SegmentSizing sizing, StoreOptions options) {
    this(
        namespace.layout(),
        namespace.codecs(),
        namespace.descriptor().pageBytes(),
        sizing,
        options);
  }

  /**
   * An estimator.
   *
   * @param descriptorBytes what the namespace's description takes in each segment, whole pages
   */
  PrefillEstimator(
      Layout layout,
      CodecPlan codecs,
      long descriptorBytes,
      SegmentSizing sizing,
      StoreOptions options) {
    this.layout = layout;
    this.codecs = codecs;
    this.descriptorBytes = descriptorBytes;
    this.records = new RecordPlans(0, layout, codecs, sizing.maxRecordBytes());
    this.sizing = sizing;
    this.options = options;
    this.uniformFrom = uniformFrom(layout);
    this.fullWindowsFrom =
        Math.addExact(layout.maxWindowTokens(), Math.max(layout.maxSinkTokens(), 0));
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
   * All that a prefill costs.
   *
   * @param startTokens the restore point that it starts from
   * @param storedTokens boundaries up to here have their rows
   * @param storedPoints boundaries that are points already
   * @param coverage window rows that are stored, which this uses up
   * @param points a plan of its own, which this uses up
   * @param enoughBytes beyond so many written bytes nothing more is counted: what is asked then is
   *     only whether it fits
   */
  Estimate estimate(
      int startTokens,
      int storedTokens,
      Set<Integer> storedPoints,
      WindowCoverage coverage,
      int expectedTokens,
      PointPlan points,
      long enoughBytes) {
    int block = layout.blockTokens();
    int end = expectedTokens / block * block;
    Cost all = Cost.NOTHING;
    Cost rowsToPoint = rowsOf(0, startTokens);
    Cost rowsToHere = rowsToPoint;
    long largestBlock = 0;
    int lastPoint = startTokens;
    int widestGap = 0;
    int restorable = 0;
    // Written so that it does not run over where the prompt is as long as one can be.
    for (int from = startTokens; from < end && all.most() <= enoughBytes; from += block) {
      int to = from + block;
      Cost rows = rowsOfBlock(from, to);
      rowsToHere = rowsToHere.plus(rows);
      Cost added = to > storedTokens ? rows : Cost.NOTHING;
      boolean there = storedPoints.contains(to);
      boolean point = there || points.wants(to);
      if (point && !there) {
        int covered = coverage.coveredTo(to);
        coverage.add(covered, to);
        added = added.plus(pointOf(from, to, covered));
      }
      if (point) {
        points.added(to);
      }
      if (point || (!layout.needsPoints() && to > storedTokens)) {
        widestGap = Math.max(widestGap, to - lastPoint);
        lastPoint = to;
        rowsToPoint = rowsToHere;
        restorable += there ? 0 : 1;
      }
      largestBlock = Math.max(largestBlock, added.most());
      all = all.plus(added);
    }
    widestGap = Math.max(widestGap, expectedTokens - lastPoint);
    long held = layout.needsPoints() && HeldPoint.fits(layout) ? HeldPoint.bytes(layout) : 0;
    return new Estimate(
        expectedTokens,
        all.raw(),
        all.encoded(),
        all.most(),
        allocatedBytes(all.most()),
        Math.min(all.most(), options.maxInFlightBytes() + largestBlock)
            + (held <= options.heldStateBytes() ? held : 0),
        Estimate.memoryBytes(layout, expectedTokens),
        lastPoint == 0 ? 0 : rowsToPoint.encoded() + pointBytes(lastPoint),
        restorable,
        widestGap,
        dataDependent());
  }

  private boolean dataDependent() {
    return layout.tensors().stream().anyMatch(spec -> codecs.of(spec) == Codec.PLANES);
  }

  private long pointBytes(int tokens) {
    return pointOf(tokens - layout.blockTokens(), tokens, 0).encoded();
  }

  /** Costs the same wherever every window is full and as many of its rows are new. */
  private Cost pointOf(int from, int to, int covered) {
    if (from < fullWindowsFrom) {
      return costOfPoint(from, to, covered);
    }
    int newTokens = to - Math.max(covered, to - layout.maxWindowTokens());
    return points.computeIfAbsent(newTokens, n -> costOfPoint(from, to, covered));
  }

  private Cost costOfPoint(int from, int to, int covered) {
    return Cost.of(records.delta(ANY_KEY, ANY_KEY, from, to, covered))
        .plus(Cost.of(records.state(ANY_KEY, ANY_KEY, from, to)));
  }

  private long allocatedBytes(long recordBytes) {
    if (recordBytes == 0) {
      return 0;
    }
    long segments = 2 * (recordBytes / sizing.segmentBytes()) + 4;
    long own = 2 * Alignment.PAGE_BYTES + descriptorBytes;
    return recordBytes + segments * own + 2 * sizing.runBytes();
  }

  private Cost rowsOf(int from, int to) {
    Cost cost = Cost.NOTHING;
    for (int at = from; at < to; at += layout.blockTokens()) {
      cost = cost.plus(rowsOfBlock(at, at + layout.blockTokens()));
    }
    return cost;
  }

  private Cost rowsOfBlock(int from, int to) {
    if (from < uniformFrom) {
      return Cost.of(records.append(ANY_KEY, ANY_KEY, from, to));
    }
    if (uniformRows == null) {
      uniformRows = Cost.of(records.append(ANY_KEY, ANY_KEY, from, to));
    }
    return uniformRows;
  }
}
