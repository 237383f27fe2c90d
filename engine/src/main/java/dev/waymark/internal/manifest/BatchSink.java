package dev.waymark.internal.manifest;

import java.util.List;
import org.agrona.collections.LongArrayList;

/** Takes the edits of a manifest in their order, a batch or more at a time. */
interface BatchSink {
  /**
   * Takes edits whose batch has ended, and where each stands in the file. Both lists are the
   * caller's again when it returns.
   */
  void take(List<Edit> edits, LongArrayList offsets);
}
