package dev.waymark.tools.inspect;

import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.StoreInspector.SegmentReport;
import dev.waymark.StoreInspector.Summary;
import dev.waymark.tools.Account;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.stream.Collectors;

/** What a store holds, for people. */
final class InspectText {
  private static final String SEGMENTS = "%-20s %-7s %8s %10s %10s %10s %10s %11s %10s";

  private final StoreInspector store;
  private final Output out;
  private final long nowMillis;

  InspectText(StoreInspector store, Output out, long nowMillis) {
    this.store = store;
    this.out = out;
    this.nowMillis = nowMillis;
  }

  void print(boolean boundaries) {
    summary();
    segments();
    for (NamespaceReport namespace : store.namespaces()) {
      out.line();
      namespace(namespace, out);
    }
    totals();
    if (boundaries) {
      boundaries();
    }
    findings();
  }

  private void summary() {
    Summary summary = store.summary();
    out.line("store %s, format %d", summary.storeId(), summary.readVersion());
    out.line(
        "%s: %,d bytes of edits%s", summary.manifest(), summary.manifestBytes(), writer(summary));
    out.line(
        "%,d boundaries, %,d restore points, %,d open sessions, %,d kept chains",
        summary.boundaries(), summary.points(), summary.openSessions(), summary.keptChains());
  }

  /** A writer that lives is heard of every second; one that is silent for longer has died. */
  private String writer(Summary summary) {
    if (summary.heartbeatMillis().isEmpty()) {
      return "";
    }
    long millis = summary.heartbeatMillis().getAsLong();
    if (summary.isClosed()) {
      return String.format(
          Locale.ROOT,
          "; closed cleanly %s ago (%s)",
          Output.age(millis, nowMillis),
          Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.SECONDS));
    }
    return String.format(
        Locale.ROOT,
        "; not closed: its writer, process %d, was last heard of %s ago",
        summary.processId().orElse(0),
        Output.age(millis, nowMillis));
  }

  private void segments() {
    out.line();
    out.line(
        SEGMENTS,
        "segment",
        "",
        "records",
        "live",
        "dead",
        "framing",
        "reserved",
        "unaccounted",
        "allocated");
    for (SegmentReport segment : store.segments()) {
      out.line(
          SEGMENTS,
          segment.file(),
          segment.sealed() ? "sealed" : "open",
          String.format(Locale.ROOT, "%,d", segment.liveRecords()),
          Output.bytes(segment.liveBytes()),
          Output.bytes(segment.deadBytes()),
          Output.bytes(segment.framingBytes()),
          Output.bytes(segment.reservedBytes()),
          Output.bytes(segment.unaccountedBytes()),
          Output.bytes(segment.allocatedBytes()));
    }
  }

  static void namespace(NamespaceReport namespace, Output out) {
    LayoutSummary layout = LayoutSummary.of(namespace.layout());
    out.line("namespace %d (%s)", namespace.id(), namespace.fingerprint());
    out.line(
        "  %s",
        namespace.identity().properties().entrySet().stream()
            .map(property -> property.getKey() + "=" + property.getValue())
            .collect(Collectors.joining(", ")));
    out.line(
        "  blocks of %,d tokens; %d tensors of rows, %s a token; %d of windows, %s when full;"
            + " %d fixed, %s",
        layout.blockTokens(),
        layout.rowTensors(),
        Output.bytes(layout.rowBytesPerToken()),
        layout.windowTensors(),
        Output.bytes(layout.windowBytes()),
        layout.fixedTensors(),
        Output.bytes(layout.fixedBytes()));
    out.line(
        "  %,d boundaries, %s of rows; %,d restore points, %s of windows and state; first blocks: %,d",
        namespace.boundaries(),
        Output.bytes(namespace.rowRecordBytes()),
        namespace.points(),
        Output.bytes(namespace.pointRecordBytes()),
        namespace.chains());
  }

  private void totals() {
    out.line();
    Account.of(store.totals()).forEach((name, bytes) -> Lines.bytes(out, name, bytes));
    store
        .otherFiles()
        .forEach(
            file ->
                out.line(
                    "  %s is not named by the manifest: %,d B, unaccounted",
                    file.file(), file.allocatedBytes()));
  }

  private void boundaries() {
    out.line();
    out.line(
        "%-9s %-9s %-9s %10s %-7s %-7s %10s %10s %6s",
        "namespace", "key", "parent", "tokens", "", "", "rows", "state", "age");
    store.forEachBoundary(
        boundary ->
            out.line(
                "%-9d %-9s %-9s %,10d %-7s %-7s %10s %10s %6s",
                boundary.namespaceId(),
                boundary.key(),
                boundary.parentKey(),
                boundary.tokens(),
                boundary.isPoint() ? "restore" : "",
                boundary.isBranch() ? "branch" : "",
                Output.bytes(boundary.rowBytes()),
                Output.bytes(boundary.pointBytes()),
                age(boundary.addedMillis())));
  }

  private void findings() {
    if (!store.findings().isEmpty()) {
      out.line();
      Findings.print(store.findings(), out);
    }
  }

  private String age(long millis) {
    return Output.age(millis, nowMillis);
  }
}
