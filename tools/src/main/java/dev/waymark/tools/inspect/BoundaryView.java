package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector.BoundaryDetail;
import dev.waymark.StoreInspector.BoundaryReport;
import dev.waymark.tools.Output;

/** One boundary, with its records. */
final class BoundaryView implements View {
  private final BoundaryDetail detail;
  private final long nowMillis;

  BoundaryView(BoundaryDetail detail, long nowMillis) {
    this.detail = detail;
    this.nowMillis = nowMillis;
  }

  @Override
  public void print(Output out) {
    BoundaryReport boundary = detail.boundary();
    out.line(
        "boundary %s at %,d tokens of namespace %d%s, on %s",
        boundary.key(),
        boundary.tokens(),
        boundary.namespaceId(),
        detail.root().isTenant() ? ", tenant " + detail.root().key() : "",
        boundary.parentKey());
    out.line(
        "%s; %,d %s on it; stored %s ago, last used as number %,d",
        boundary.isPoint()
            ? "restore point, a restore reads " + Output.bytes(detail.restoreBytes())
            : "no restore point, the deepest above it is at "
                + Output.count(detail.deepestPointTokens())
                + " tokens",
        boundary.children(),
        boundary.children() == 1 ? "chain goes on" : "chains go on",
        Output.age(boundary.addedMillis(), nowMillis),
        detail.usedSequence());
    out.line();
    detail
        .records()
        .forEach(
            record ->
                out.line(
                    "%-6s %d/%d  %s at byte %,d: %,d bytes",
                    record.kind(),
                    record.piece() + 1,
                    record.pieces(),
                    record.file(),
                    record.offsetBytes(),
                    record.lengthBytes()));
  }

  @Override
  public void add(ObjectNode root) {
    ObjectNode node = root.putObject("boundary");
    InspectJson.add(detail.boundary(), node);
    node.put("root_key", detail.root().key());
    node.put("tenant", detail.root().isTenant());
    node.put("used_sequence", detail.usedSequence());
    node.put("deepest_point_tokens", detail.deepestPointTokens());
    node.put("restore_bytes", detail.restoreBytes());
    node.put("window_covered", detail.windowCovered());
    ArrayNode list = node.putArray("records");
    detail.records().forEach(record -> SegmentView.add(record, list.addObject()));
  }
}
