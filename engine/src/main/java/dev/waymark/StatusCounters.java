package dev.waymark;

import java.util.StringJoiner;

/** The counters that STATUS holds, as JSON: names with the unit last, all of them numbers. */
final class StatusCounters {
  /** Raised when a field changes its meaning or goes; new fields do not raise it. */
  private static final int OUTPUT_VERSION = 1;

  private final StringJoiner fields = new StringJoiner(",", "{", "}");

  private StatusCounters() {}

  static String json(StoreStats stats, BoundaryAges.Ages ages) {
    return new StatusCounters()
        .put("output_version", OUTPUT_VERSION)
        .put("quota_bytes", stats.quotaBytes())
        .put("allocated_bytes", stats.allocatedBytes())
        .put("live_bytes", stats.liveBytes())
        .put("dead_bytes", stats.deadBytes())
        .put("framing_bytes", stats.framingBytes())
        .put("reserved_bytes", stats.reservedBytes())
        .put("segments", stats.segments())
        .put("boundaries", stats.boundaries())
        .put("points", stats.points())
        .put("kept_chains", stats.keptChains())
        .put("kept_bytes", stats.keptBytes())
        .put("oldest_added_millis", ages.oldestMillis())
        .put("newest_added_millis", ages.newestMillis())
        .put("open_sessions", stats.openSessions())
        .put("in_flight_bytes", stats.unforcedBytes())
        .put("admitted_memory_bytes", stats.admittedMemoryBytes())
        .put("mapped_files", stats.mappedFiles())
        .put("appended_bytes", stats.appendedBytes())
        .put("written_bytes", stats.writtenBytes())
        .put("record_bytes", stats.recordBytes())
        .put("copied_bytes", stats.copiedBytes())
        .put("evicted_boundaries", stats.evictedBoundaries())
        .put("evicted_points", stats.evictedPoints())
        .put("skipped_points", stats.skippedPoints())
        .put("matches", stats.matches())
        .put("match_hits", stats.matchHits())
        .put("restores", stats.restores())
        .put("restore_misses", stats.restoreMisses())
        .put("restored_bytes", stats.restoredBytes())
        .put("append", stats.timings().append())
        .put("restore", stats.timings().restore())
        .put("force", stats.timings().force())
        .put("evict", stats.timings().evict())
        .put("reclaim", stats.timings().reclaim())
        .put("recover", stats.timings().recover())
        .put("reject", stats.timings().reject())
        .fields
        .toString();
  }

  private StatusCounters put(String name, long value) {
    fields.add("\"" + name + "\":" + value);
    return this;
  }

  private StatusCounters put(String name, StoreTimings.Timing timing) {
    String value =
        new StatusCounters()
            .put("count", timing.count())
            .put("total_nanos", timing.totalNanos())
            .put("max_nanos", timing.maxNanos())
            .put("p50_nanos", timing.p50Nanos())
            .put("p99_nanos", timing.p99Nanos())
            .fields
            .toString();
    fields.add("\"" + name + "\":" + value);
    return this;
  }
}
