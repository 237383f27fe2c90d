package dev.waymark.tools.dump;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.RecordInspector.ChunkReport;
import dev.waymark.RecordInspector.Field;
import dev.waymark.RecordInspector.PartReport;
import dev.waymark.RecordInspector.Report;
import dev.waymark.RecordInspector.Statistics;
import dev.waymark.tools.Output;

/** One record, for people and for programs. */
public final class RecordText {
  private static final String FIELD = "%14s %7s  %-16s %s";

  private final Report record;

  /** Of that record. */
  public RecordText(Report record) {
    this.record = record;
  }

  /** What it is, and its headers. */
  public void printHeaders(Output out) {
    out.line(
        "%s of %s at byte %,d: %,d bytes, %s",
        record.message(),
        record.file(),
        record.offsetBytes(),
        record.lengthBytes(),
        record.lives() ? "lives" : "dead");
    out.line();
    out.line(FIELD, "offset", "bytes", "field", "value");
    for (Field field : record.fields()) {
      out.line(
          FIELD,
          Output.count(field.offsetBytes()),
          Output.count(field.lengthBytes()),
          field.name(),
          field.value());
    }
    damage(record.damage(), out);
  }

  /** Its parts, each with what its elements are like. */
  public void printParts(Output out) {
    for (PartReport part : record.parts()) {
      out.line();
      out.line(
          "%s (%s): outer %d to %d, rows %,d to %,d; entry at byte %,d",
          part.tensor(),
          part.dtype(),
          part.outerFrom(),
          part.outerFrom() + part.outerCount(),
          part.rowFrom(),
          part.rowFrom() + part.rowCount(),
          part.entryOffsetBytes());
      out.line(
          "  at byte %,d: %,d bytes stored by %s, %,d raw",
          part.offsetBytes(), part.storedBytes(), part.codec(), part.rawBytes());
      for (ChunkReport chunk : part.chunks()) {
        out.line(
            "  chunk at byte %,d: %,d bytes, %,d raw, checksum %s%s",
            chunk.offsetBytes(),
            chunk.storedBytes(),
            chunk.rawBytes(),
            chunk.checksum(),
            chunk.isStoredRaw() ? ", left raw" : "");
      }
      Statistics statistics = part.statistics();
      out.line(
          "  %,d elements: %,d zero, %,d not finite; %.6g to %.6g, mean %.6g, deviation %.6g",
          statistics.elements(),
          statistics.zeros(),
          statistics.notFinite(),
          statistics.least(),
          statistics.most(),
          statistics.mean(),
          statistics.deviation());
      out.line("  begins %s", part.head());
      damage(part.damage(), out);
    }
  }

  private static void damage(String damage, Output out) {
    if (!damage.isEmpty()) {
      out.line("  DAMAGED: %s", damage);
    }
  }

  /** Adds all of it. */
  public void add(ObjectNode root) {
    root.put("file", record.file());
    root.put("segment", record.segmentId());
    root.put("offset_bytes", record.offsetBytes());
    root.put("length_bytes", record.lengthBytes());
    root.put("message", record.message());
    root.put("lives", record.lives());
    root.put("damage", record.damage());
    ArrayNode fields = root.putArray("fields");
    for (Field field : record.fields()) {
      fields
          .addObject()
          .put("name", field.name())
          .put("offset_bytes", field.offsetBytes())
          .put("length_bytes", field.lengthBytes())
          .put("value", field.value());
    }
    ArrayNode parts = root.putArray("parts");
    record.parts().forEach(part -> add(part, parts.addObject()));
  }

  private static void add(PartReport part, ObjectNode node) {
    node.put("tensor", part.tensor());
    node.put("dtype", part.dtype());
    node.put("codec", part.codec());
    node.put("entry_offset_bytes", part.entryOffsetBytes());
    node.put("outer_from", part.outerFrom());
    node.put("outer_count", part.outerCount());
    node.put("row_from", part.rowFrom());
    node.put("row_count", part.rowCount());
    node.put("offset_bytes", part.offsetBytes());
    node.put("stored_bytes", part.storedBytes());
    node.put("raw_bytes", part.rawBytes());
    ArrayNode chunks = node.putArray("chunks");
    for (ChunkReport chunk : part.chunks()) {
      chunks
          .addObject()
          .put("offset_bytes", chunk.offsetBytes())
          .put("stored_bytes", chunk.storedBytes())
          .put("raw_bytes", chunk.rawBytes())
          .put("checksum", chunk.checksum())
          .put("left_raw", chunk.isStoredRaw());
    }
    Statistics statistics = part.statistics();
    node.putObject("statistics")
        .put("elements", statistics.elements())
        .put("zeros", statistics.zeros())
        .put("not_finite", statistics.notFinite())
        .put("least", statistics.least())
        .put("most", statistics.most())
        .put("mean", statistics.mean())
        .put("deviation", statistics.deviation());
    node.put("head", part.head());
    node.put("damage", part.damage());
  }
}
