package dev.waymark.tools.forest;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.BoundaryReport;
import dev.waymark.StoreInspector.FindingReport;
import dev.waymark.StoreInspector.RootReport;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Parts of the forest as JSON, written as they come. */
final class ForestJson {
  private ForestJson() {}

  /** Begins a root's object. */
  static void start(RootReport root, JsonGenerator to) throws IOException {
    to.writeStartObject();
    to.writeNumberField("namespace", root.namespaceId());
    to.writeStringField("root_key", root.key());
    to.writeBooleanField("tenant", root.isTenant());
    to.writeNumberField("first_blocks", root.children());
  }

  static void write(BoundaryReport boundary, JsonGenerator to) {
    try {
      to.writeStartObject();
      to.writeStringField("key", boundary.key());
      to.writeStringField("parent_key", boundary.parentKey());
      to.writeNumberField("tokens", boundary.tokens());
      to.writeBooleanField("restorable", boundary.isPoint());
      to.writeNumberField("children", boundary.children());
      to.writeNumberField("row_record_bytes", boundary.rowBytes());
      to.writeNumberField("point_record_bytes", boundary.pointBytes());
      to.writeNumberField("added_millis", boundary.addedMillis());
      to.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void write(Stretch stretch, JsonGenerator to) {
    try {
      to.writeStartObject();
      to.writeNumberField("level", stretch.level());
      to.writeStringField("key", stretch.key());
      to.writeNumberField("from_tokens", stretch.fromTokens());
      to.writeNumberField("tokens", stretch.tokens());
      to.writeNumberField("blocks", stretch.blocks());
      to.writeBooleanField("restorable", stretch.isPoint());
      to.writeNumberField("children", stretch.children());
      to.writeNumberField("row_record_bytes", stretch.rowBytes());
      to.writeNumberField("point_record_bytes", stretch.pointBytes());
      to.writeNumberField("added_millis", stretch.addedMillis());
      to.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void findings(StoreInspector store, JsonGenerator to) throws IOException {
    to.writeArrayFieldStart("findings");
    for (FindingReport finding : store.findings()) {
      to.writeStartObject();
      to.writeStringField("id", finding.id());
      to.writeStringField("severity", finding.severity());
      to.writeStringField("file", finding.file());
      to.writeNumberField("offset_bytes", finding.offsetBytes());
      to.writeStringField("text", finding.text());
      to.writeEndObject();
    }
    to.writeEndArray();
  }
}
