package dev.waymark.tools.replay;

import dev.waymark.layout.BoundaryKey;
import java.util.List;
import org.agrona.collections.LongHashSet;

/**
 * Counts the distinct blocks of a trace, apart from what any store says of them. Of a key only 64
 * bits are kept, since traces have millions of blocks; that two of ten million share them has a
 * chance of 1 in 300,000.
 */
final class DistinctBlocks {
  private final LongHashSet seen = new LongHashSet();

  /** Adds the blocks of a request. */
  void addAll(List<BoundaryKey> keys) {
    for (BoundaryKey key : keys) {
      seen.add(key.word0());
    }
  }

  /** Distinct blocks so far. */
  long count() {
    return seen.size();
  }
}
