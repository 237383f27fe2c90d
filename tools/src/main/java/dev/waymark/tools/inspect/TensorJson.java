package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.TensorInspector.Report;
import dev.waymark.TensorInspector.TensorReport;
import java.util.TreeMap;

/** What codecs make of each tensor, for programs. */
final class TensorJson {
  private TensorJson() {}

  /** Adds it to what is said of the store. */
  static void add(Report report, ObjectNode root) {
    ArrayNode tensors = root.putArray("tensors");
    for (TensorReport tensor : report.tensors()) {
      ObjectNode node = tensors.addObject();
      node.put("namespace", tensor.namespaceId());
      node.put("name", tensor.spec().name());
      node.put("dtype", tensor.spec().dtype().name());
      node.put("codec_asked", tensor.asked().name());
      node.put("parts", tensor.parts());
      node.put("parts_stored_raw", tensor.partsRaw());
      node.put("chunks", tensor.chunks());
      node.put("chunks_stored_raw", tensor.chunksRaw());
      node.put("raw_bytes", tensor.rawBytes());
      node.put("stored_bytes", tensor.storedBytes());
      node.put("ratio", tensor.ratio());
      ObjectNode reasons = node.putObject("chunks_stored_raw_because");
      new TreeMap<>(tensor.reasons()).forEach(reasons::put);
    }
    root.put("tensor_records", report.records());
    root.put("tensor_records_unread", report.recordsUnread());
  }
}
