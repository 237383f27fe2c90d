package dev.waymark;

import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.retain.PointPlan;
import dev.waymark.internal.retain.StateCosts;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import java.util.List;
import java.util.Set;

/**
 * What a prefill will cost, known before its first byte and without I/O. Counted by what decides at
 * append time, under the condition that chunks end where {@link PrefillSession#nextPointTokens()}
 * asks, and that nobody else stores the same prompt meanwhile.
 *
 * @param tokens length of the prompt
 * @param appendedBytes payload that the store takes: rows, window rows and fixed tensors as the
 *     caller has them. Exact
 * @param writtenBytes whole records, padding included, without the manifest. Exact where every
 *     tensor is raw or its codec's size does not depend on the data; with a lossless codec the
 *     most; with a lossy one exact unless chunks are left raw
 * @param mostWrittenBytes the same as if every chunk was left raw: no data makes it more
 * @param allocatedBytes most that the store's segments grow by
 * @param inFlightBytes most that waits for a force at one time, and that is held in memory of the
 *     newest state while tokens are generated
 * @param memoryBytes what the model's state takes in the caller's memory at the prompt's end, in
 *     its raw form
 * @param restoreBytes most that a restore at the last point reads
 * @param restorePoints boundaries that become restorable
 * @param widestGapTokens most tokens that have to be computed anew where a later prompt leaves this
 *     one: the widest distance between restorable positions, or from the last to the prompt's end
 * @param dataDependent whether a lossless codec may make it smaller than written here
 */
public record Estimate(
    int tokens,
    long appendedBytes,
    long writtenBytes,
    long mostWrittenBytes,
    long allocatedBytes,
    long inFlightBytes,
    long memoryBytes,
    long restoreBytes,
    int restorePoints,
    int widestGapTokens,
    boolean dataDependent) {

  /**
   * {@return what a prompt costs in a store that has nothing of it}
   *
   * @param layout what its state is made of
   * @param codecs how each tensor is stored
   * @param plan what is expected of the prefill
   * @param options their quota gives the size of segments, so {@code auto} is not enough
   */
  public static Estimate of(
      Layout layout, CodecPlan codecs, PrefillPlan plan, StoreOptions options) {
    SegmentSizing sizing = SegmentSizing.ofQuota(options.quotaBytes());
    PointPlan points =
        new PointPlan(
            plan.policy(),
            layout,
            new StateCosts(layout, codecs),
            plan.expectedTokens(),
            0,
            List.of(),
            0);
    return new PrefillEstimator(layout, codecs, 0, sizing, options)
        .estimate(
            0,
            0,
            Set.of(),
            WindowCoverage.none(layout),
            plan.expectedTokens(),
            points,
            Long.MAX_VALUE);
  }

  /** What a model's state takes in memory after so many tokens, in its raw form. */
  static long memoryBytes(Layout layout, int tokens) {
    return layout.rowBytes(0, tokens) + layout.windowBytes(0, tokens) + layout.fixedBytes();
  }
}
