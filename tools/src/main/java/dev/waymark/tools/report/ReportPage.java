package dev.waymark.tools.report;

import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.FindingReport;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.StoreInspector.Summary;
import dev.waymark.StoreInspector.Totals;
import dev.waymark.StoreReader;
import dev.waymark.StoreReader.NamespaceContent;
import dev.waymark.tools.Output;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A store as one page that needs nothing from elsewhere: no script, no font, no picture. Its size
 * does not grow with the store. Nothing in it names a token or a key.
 */
final class ReportPage {
  private static final int MOST_ROWS = 50;

  private final StoreInspector inspector;
  private final StoreReader reader;
  private final long nowMillis;

  ReportPage(StoreInspector inspector, StoreReader reader, long nowMillis) {
    this.inspector = inspector;
    this.reader = reader;
    this.nowMillis = nowMillis;
  }

  Html html() throws IOException {
    Summary summary = inspector.summary();
    Html page = new Html();
    page.raw("<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>");
    page.raw("<meta name='viewport' content='width=device-width, initial-scale=1'>");
    page.raw("<meta name='color-scheme' content='light dark'>");
    page.raw(
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none';"
            + " style-src 'unsafe-inline'\">");
    page.raw("<title>Waymark store ").text(summary.storeId()).raw("</title><style>");
    page.raw(css()).raw("</style></head><body><main>");
    head(page, summary);
    section(page, "Where the bytes are", new SegmentStrips(inspector.segments()).html());
    chains(page);
    namespaces(page);
    findings(page);
    return page.raw("</main></body></html>\n");
  }

  private static String css() throws IOException {
    try (InputStream in = ReportPage.class.getResourceAsStream("report.css")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void head(Html page, Summary summary) {
    Totals totals = inspector.totals();
    page.raw("<header><h1>Waymark store</h1><p>").text(summary.storeId());
    page.raw(", as of ").text(second(nowMillis)).raw(". ").text(writer(summary)).raw("</p>");
    page.raw("</header><dl class='tiles'>");
    tile(page, "boundaries", "%,d", summary.boundaries());
    tile(page, "restore points", "%,d", summary.points());
    tile(page, "segments", "%,d", inspector.segments().size());
    tile(page, "occupied", "%s", Output.bytes(totals.allocatedBytes()));
    tile(page, "of it live", "%s", share(totals.liveBytes(), totals.allocatedBytes()));
    tile(page, "dead", "%s", Output.bytes(totals.deadBytes()));
    page.raw("</dl>");
  }

  private static String share(long part, long of) {
    return of == 0 ? "none" : Math.round(100.0 * part / of) + "%";
  }

  private static String second(long millis) {
    return Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private static String writer(Summary summary) {
    if (summary.heartbeatMillis().isEmpty()) {
      return "No writer has said anything yet.";
    }
    String at = second(summary.heartbeatMillis().getAsLong());
    return summary.isClosed()
        ? "Closed cleanly at " + at + "."
        : "Not closed; its writer was last heard of at " + at + ".";
  }

  private static void tile(Html page, String name, String format, Object value) {
    page.raw("<div><dt>").text(name).raw("</dt><dd>");
    page.text(String.format(java.util.Locale.ROOT, format, value)).raw("</dd></div>");
  }

  private static void section(Html page, String title, Html content) {
    page.raw("<section><h2>").text(title).raw("</h2>").add(content).raw("</section>");
  }

  private void chains(Html page) {
    List<NamespaceContent> namespaces = reader.namespaces();
    Map<Integer, Integer> blockTokens = new HashMap<>();
    namespaces.forEach(n -> blockTokens.put(n.id(), n.layout().blockTokens()));
    WrittenOverTime.Span span = new WrittenOverTime.Span();
    long[] count = {0};
    reader.forEachBoundary(
        boundary -> {
          span.add(boundary);
          count[0]++;
        });
    WrittenOverTime written = new WrittenOverTime(namespaces, span, count[0]);
    ForestShape shape = new ForestShape();
    PointSpacing spacing = new PointSpacing(blockTokens);
    reader.forEachBoundary(
        boundary -> {
          written.add(boundary);
          shape.add(boundary);
          spacing.add(boundary);
        });
    if (count[0] == 0) {
      section(page, "Chains", new Html().raw("<p>Nothing is stored.</p>"));
    } else {
      section(page, "The prefix forest", forest(shape));
      section(page, "Stored, and what bundles would have taken", growth(written));
      section(page, "Between restore points", spacing.html());
    }
    section(page, "Out of the store", new HitRate(reader.counters()).html());
  }

  private static Html forest(ForestShape shape) {
    Html html = new Html();
    html.raw("<p>From the first token at the top down; as wide as the bytes from there on.</p>");
    html.raw("<p class='legend'><span><i class='run'></i>rows</span> ");
    html.raw("<span><i class='mark'></i>restore points</span> ");
    html.raw("<span><i class='all'></i>a restore point at each boundary</span> ");
    html.raw("<span><i class='together'></i>too narrow to be shown</span></p>");
    html.raw("<p class='depth'>0 tokens</p>");
    html.add(new Icicle(shape.finish(), shape.mostTokens()).svg());
    return html.raw("<p class='depth'>%,d tokens</p>", shape.mostTokens());
  }

  private static Html growth(WrittenOverTime written) {
    Html html = new Html();
    html.raw(
        "<p>Bundles are one file for each boundary, with the whole prefix, its windows and its"
            + " state. Of boundaries that are there now; the scale is logarithmic.</p>");
    return html.add(new GrowthChart(written).html());
  }

  private void namespaces(Html page) {
    List<NamespaceReport> namespaces = inspector.namespaces();
    Html html = new Html();
    if (namespaces.isEmpty()) {
      section(page, "Namespaces", html.raw("<p>There is none yet.</p>"));
      return;
    }
    html.raw(
        "<div class='wide'><table class='namespaces'><tr><th>namespace</th><th>model</th><th>boundaries</th>");
    html.raw("<th>points</th><th>rows</th><th>state</th></tr>");
    for (NamespaceReport namespace :
        namespaces.subList(0, Math.min(MOST_ROWS, namespaces.size()))) {
      html.raw("<tr><td><code>").text(namespace.fingerprint()).raw("</code></td><td>");
      namespace
          .identity()
          .properties()
          .forEach(
              (name, value) ->
                  html.text(
                          name
                              + " "
                              + (value.length() > 80 ? value.substring(0, 80) + "..." : value))
                      .raw("<br>"));
      html.raw("</td><td>%,d</td><td>%,d</td>", namespace.boundaries(), namespace.points());
      html.raw("<td>").text(Output.bytes(namespace.rowRecordBytes())).raw("</td><td>");
      html.text(Output.bytes(namespace.pointRecordBytes())).raw("</td></tr>");
    }
    html.raw("</table></div>");
    more(html, namespaces.size());
    section(page, "Namespaces", html);
  }

  private void findings(Html page) {
    List<FindingReport> findings = inspector.findings();
    if (findings.isEmpty()) {
      return;
    }
    Html html = new Html();
    html.raw("<ul>");
    for (FindingReport finding : findings.subList(0, Math.min(MOST_ROWS, findings.size()))) {
      html.raw("<li><b>").text(finding.severity()).raw("</b> <code>").text(finding.id());
      html.raw("</code> ").text(finding.file()).raw(": ").text(finding.text()).raw("</li>");
    }
    html.raw("</ul>");
    more(html, findings.size());
    section(page, "Findings", html);
  }

  private static void more(Html html, int count) {
    if (count > MOST_ROWS) {
      html.raw("<p>and %,d more</p>", count - MOST_ROWS);
    }
  }
}
