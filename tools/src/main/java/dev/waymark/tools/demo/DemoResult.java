package dev.waymark.tools.demo;

import java.nio.file.Path;
import java.util.List;

/**
 * What a demonstration found.
 *
 * @param steps the requests, in order; the last one was answered after the reopen
 * @param bundleBytes what one file a boundary, each with all rows of the prefix so far, its window
 *     and its fixed state, would have taken; computed, not written
 * @param writtenBytes records and edits
 * @param allocatedBytes of the store at the end
 * @param coldSeconds time to compute the last prompt with no store
 * @param comparedTokens tokens that were decoded twice
 * @param firstDifference index of the first of them that differs, or -1
 * @param logitsIdentical whether the logits after all these tokens are the same to the bit
 * @param lossyState what the same conversation was like with a lossy codec; null if none was asked
 *     for
 */
record DemoResult(
    Path store,
    List<DemoStep> steps,
    int boundaries,
    long points,
    long bundleBytes,
    long writtenBytes,
    long allocatedBytes,
    double coldSeconds,
    int comparedTokens,
    int firstDifference,
    boolean logitsIdentical,
    LossyState lossyState) {

  DemoResult {
    steps = List.copyOf(steps);
  }

  boolean identical() {
    return firstDifference < 0 && logitsIdentical;
  }

  /** The request that was answered from the reopened store. */
  DemoStep last() {
    return steps.get(steps.size() - 1);
  }

  long restoredTokens() {
    return steps.stream().mapToLong(DemoStep::restoredTokens).sum();
  }

  long computedTokens() {
    return steps.stream().mapToLong(DemoStep::computedTokens).sum();
  }

  double savedSeconds() {
    return coldSeconds - last().seconds();
  }
}
