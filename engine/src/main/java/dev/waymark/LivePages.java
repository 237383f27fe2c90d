package dev.waymark;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentInfo;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What emptying segments would copy: whole pages of the records that live. Reads only. */
final class LivePages {
  private final Map<Long, Long> bytes = new HashMap<>();

  LivePages(Forest forest) {
    Consumer<RecordLocation> add =
        record ->
            bytes.merge(record.segmentId(), Alignment.toPage(record.lengthBytes()), Long::sum);
    forest.forEachBoundary(
        node -> {
          forest.rowRecords(node).forEach(add);
          forest.deltaRecords(node).forEach(add);
          forest.stateRecords(node).forEach(add);
        });
  }

  /** The segments that are to be emptied, as they are reported. */
  List<CompactionReport.Candidate> candidates(List<SegmentInfo> segments) {
    return segments.stream()
        .map(
            segment ->
                new CompactionReport.Candidate(
                    segment.segmentId(),
                    segment.fileName(),
                    segment.liveBytes(),
                    segment.deadBytes(),
                    segment.allocatedBytes(),
                    bytes.getOrDefault(segment.segmentId(), 0L)))
        .toList();
  }
}
