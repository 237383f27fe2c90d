package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector.RecordReport;
import dev.waymark.StoreInspector.SegmentReport;
import dev.waymark.tools.Output;
import java.util.List;

/** One segment, with the records that live in it. */
final class SegmentView implements View {
  private static final String ROW = "%14s %14s  %-6s %7s %10s %10s  %s";

  private final SegmentReport segment;
  private final List<RecordReport> records;

  SegmentView(SegmentReport segment, List<RecordReport> records) {
    this.segment = segment;
    this.records = records;
  }

  @Override
  public void print(Output out) {
    out.line(
        "%s: %s, %s, %,d bytes long, %,d allocated",
        segment.file(),
        segment.kind(),
        segment.sealed() ? "sealed" : "open",
        segment.lengthBytes(),
        segment.allocatedBytes());
    out.line(
        "%,d live + %,d dead + %,d framing + %,d reserved + %,d unaccounted",
        segment.liveBytes(),
        segment.deadBytes(),
        segment.framingBytes(),
        segment.reservedBytes(),
        segment.unaccountedBytes());
    out.line();
    out.line(ROW, "offset", "bytes", "kind", "piece", "namespace", "tokens", "key");
    records.forEach(record -> row(record, out));
  }

  /** A record's line; without its segment, which the lines above say. */
  static void row(RecordReport record, Output out) {
    out.line(
        ROW,
        Output.count(record.offsetBytes()),
        Output.count(record.lengthBytes()),
        record.kind(),
        record.piece() + 1 + "/" + record.pieces(),
        record.namespaceId(),
        Output.count(record.tokens()),
        record.key());
  }

  @Override
  public void add(ObjectNode root) {
    InspectJson.add(segment, root.putObject("segment"));
    ArrayNode list = root.putArray("records");
    records.forEach(record -> add(record, list.addObject()));
  }

  static void add(RecordReport record, ObjectNode node) {
    node.put("segment", record.segmentId());
    node.put("file", record.file());
    node.put("offset_bytes", record.offsetBytes());
    node.put("length_bytes", record.lengthBytes());
    node.put("kind", record.kind());
    node.put("piece", record.piece());
    node.put("pieces", record.pieces());
    node.put("namespace", record.namespaceId());
    node.put("key", record.key());
    node.put("tokens", record.tokens());
  }
}
