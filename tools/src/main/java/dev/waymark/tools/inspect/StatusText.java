package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.StoreStatus;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import java.util.Locale;

/** What a store's writer last said of it, for people. */
final class StatusText {
  private static final String[] TIMED = {
    "append", "restore", "force", "evict", "reclaim", "recover", "reject"
  };
  private static final String TIMES = "%-10s %12s %10s %10s %10s %10s %10s";

  private final StoreStatus status;
  private final JsonNode published;
  private final Output out;
  private final long nowMillis;

  StatusText(StoreStatus status, JsonNode published, Output out, long nowMillis) {
    this.status = status;
    this.published = published;
    this.out = out;
    this.nowMillis = nowMillis;
  }

  void print() {
    out.line("store %s, format %d, %s", status.storeId(), status.readVersion(), status.manifest());
    out.line("%s", writer());
    if (status.publishedMillis().isPresent()) {
      sizes();
      counters();
      times();
    } else {
      out.line();
      Lines.bytes(out, "on disk", status.allocatedBytes());
    }
    Findings.print(status.findings(), out);
  }

  private String writer() {
    if (status.publishedMillis().isEmpty()) {
      return "nothing that a writer published can be read";
    }
    long millis = status.publishedMillis().getAsLong();
    String when =
        millis > nowMillis
            ? Output.age(nowMillis, millis) + " ahead of this machine's clock"
            : Output.age(millis, nowMillis) + " ago";
    if (status.isClosed()) {
      return "closed cleanly " + when + "; what follows is of then";
    }
    boolean silent =
        status.findings().stream()
            .anyMatch(f -> f.id().equals("WRITER_SILENT") || f.id().equals("STATUS_AHEAD"));
    return String.format(
        Locale.ROOT,
        "%s by process %d; what follows is of %s",
        silent ? "not closed" : "open",
        status.processId().orElse(0),
        when);
  }

  private long number(String name) {
    return published.path(name).asLong();
  }

  private void sizes() {
    long quota = number("quota_bytes");
    long allocated = number("allocated_bytes");
    out.line();
    Lines.bytes(out, "quota", quota);
    Lines.bytes(out, "allocated", allocated);
    Lines.bytes(out, "  live", number("live_bytes"));
    Lines.bytes(out, "  dead", number("dead_bytes"));
    Lines.bytes(out, "  framing", number("framing_bytes"));
    Lines.bytes(out, "  reserved", number("reserved_bytes"));
    Lines.bytes(out, "on disk now", status.allocatedBytes());
    out.line();
    out.line(
        "%,d boundaries, %,d restore points, in %,d segments; %s of the quota",
        number("boundaries"), number("points"), number("segments"), percent(allocated, quota));
    if (number("oldest_added_millis") > 0) {
      out.line(
          "oldest added %s ago, newest %s ago; looked up at most a minute before",
          Output.age(number("oldest_added_millis"), nowMillis),
          Output.age(number("newest_added_millis"), nowMillis));
    }
    out.line("%,d kept chains, %s", number("kept_chains"), Output.bytes(number("kept_bytes")));
    out.line(
        "%,d open prefills, %s in flight, %s of memory admitted",
        number("open_sessions"),
        Output.bytes(number("in_flight_bytes")),
        Output.bytes(number("admitted_memory_bytes")));
  }

  private void counters() {
    long records = number("record_bytes");
    out.line();
    out.line("since it was opened");
    out.line(
        "  %,d matches, %s of them found something; %,d restores of %s, %,d missed",
        number("matches"),
        percent(number("match_hits"), number("matches")),
        number("restores"),
        Output.bytes(number("restored_bytes")),
        number("restore_misses"));
    out.line(
        "  %s appended, %s written; %s copied, write amplification %.2f",
        Output.bytes(number("appended_bytes")),
        Output.bytes(number("written_bytes")),
        Output.bytes(number("copied_bytes")),
        records == 0 ? 1 : (double) (records + number("copied_bytes")) / records);
    out.line(
        "  %,d boundaries and %,d points evicted, %,d points left out under pressure",
        number("evicted_boundaries"), number("evicted_points"), number("skipped_points"));
  }

  private void times() {
    out.line();
    out.line(TIMES, "", "count", "mean", "p50", "p99", "longest", "all");
    for (String name : TIMED) {
      JsonNode timing = published.path(name);
      long count = timing.path("count").asLong();
      long total = timing.path("total_nanos").asLong();
      if (count > 0) {
        out.line(
            TIMES,
            name,
            String.format(Locale.ROOT, "%,d", count),
            time(total / count),
            time(timing.path("p50_nanos").asLong()),
            time(timing.path("p99_nanos").asLong()),
            time(timing.path("max_nanos").asLong()),
            time(total));
      }
    }
  }

  private static String percent(long part, long whole) {
    return whole == 0 ? "none" : String.format(Locale.ROOT, "%.1f%%", 100.0 * part / whole);
  }

  private static String time(long nanos) {
    if (nanos < 1_000_000) {
      return String.format(Locale.ROOT, "%.1f us", nanos / 1e3);
    }
    return nanos < 1_000_000_000
        ? String.format(Locale.ROOT, "%.1f ms", nanos / 1e6)
        : String.format(Locale.ROOT, "%,.1f s", nanos / 1e9);
  }
}
