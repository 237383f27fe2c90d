package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.BoundaryReport;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.StoreInspector.SegmentReport;
import dev.waymark.StoreInspector.Summary;
import dev.waymark.tools.Account;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;

/** What a store holds, as JSON: numbers as numbers, units last in the names. */
final class InspectJson {
  private final StoreInspector store;
  private final boolean boundaries;

  InspectJson(StoreInspector store, boolean boundaries) {
    this.store = store;
    this.boundaries = boundaries;
  }

  ObjectNode toJson() {
    ObjectNode root = Output.envelope("inspect");
    Summary summary = store.summary();
    root.put("store_id", summary.storeId());
    root.put("format_version", summary.readVersion());
    root.put("manifest", summary.manifest());
    root.put("manifest_bytes", summary.manifestBytes());
    root.put("manifest_torn", summary.manifestIsTorn());
    summary.heartbeatMillis().ifPresent(millis -> root.put("heartbeat_millis", millis));
    summary.processId().ifPresent(id -> root.put("writer_process_id", id));
    root.put("closed_cleanly", summary.isClosed());
    root.put("boundaries", summary.boundaries());
    root.put("restore_points", summary.points());
    root.put("open_sessions", summary.openSessions());
    root.put("kept_chains", summary.keptChains());
    Account.put(root.putObject("totals"), store.totals());
    segments(root.putArray("segments"));
    namespaces(root.putArray("namespaces"));
    ArrayNode files = root.putArray("other_files");
    store
        .otherFiles()
        .forEach(
            file ->
                files
                    .addObject()
                    .put("file", file.file())
                    .put("allocated_bytes", file.allocatedBytes()));
    Findings.add(store.findings(), root);
    if (boundaries) {
      boundaries(root.putArray("boundary_list"));
    }
    return root;
  }

  private void segments(ArrayNode array) {
    for (SegmentReport segment : store.segments()) {
      add(segment, array.addObject());
    }
  }

  static void add(SegmentReport segment, ObjectNode node) {
    node.put("id", segment.id())
        .put("file", segment.file())
        .put("kind", segment.kind())
        .put("sealed", segment.sealed())
        .put("live_records", segment.liveRecords())
        .put("length_bytes", segment.lengthBytes())
        .put("allocated_bytes", segment.allocatedBytes())
        .put("live_bytes", segment.liveBytes())
        .put("dead_bytes", segment.deadBytes())
        .put("framing_bytes", segment.framingBytes())
        .put("reserved_bytes", segment.reservedBytes())
        .put("unaccounted_bytes", segment.unaccountedBytes());
  }

  private void namespaces(ArrayNode array) {
    for (NamespaceReport namespace : store.namespaces()) {
      add(namespace, array.addObject());
    }
  }

  static void add(NamespaceReport namespace, ObjectNode node) {
    LayoutSummary layout = LayoutSummary.of(namespace.layout());
    node.put("id", namespace.id());
    node.put("fingerprint", namespace.fingerprint());
    node.put("boundaries", namespace.boundaries());
    node.put("restore_points", namespace.points());
    node.put("chains", namespace.chains());
    node.put("row_record_bytes", namespace.rowRecordBytes());
    node.put("point_record_bytes", namespace.pointRecordBytes());
    ObjectNode identity = node.putObject("identity");
    namespace.identity().properties().forEach(identity::put);
    ObjectNode shape = node.putObject("layout");
    shape.put("block_tokens", layout.blockTokens());
    shape.put("row_tensors", layout.rowTensors());
    shape.put("window_tensors", layout.windowTensors());
    shape.put("fixed_tensors", layout.fixedTensors());
    shape.put("row_bytes_per_token", layout.rowBytesPerToken());
    shape.put("window_bytes", layout.windowBytes());
    shape.put("fixed_bytes", layout.fixedBytes());
    ArrayNode windows = shape.putArray("window_tokens");
    layout.windows().forEach(windows::add);
    ObjectNode codecs = node.putObject("codecs");
    codecs.put("rows", namespace.codecs().rows().name());
    codecs.put("window", namespace.codecs().window().name());
    codecs.put("fixed", namespace.codecs().fixed().name());
  }

  private void boundaries(ArrayNode array) {
    store.forEachBoundary(boundary -> add(boundary, array.addObject()));
  }

  static void add(BoundaryReport boundary, ObjectNode node) {
    node.put("namespace", boundary.namespaceId())
        .put("key", boundary.key())
        .put("parent_key", boundary.parentKey())
        .put("tokens", boundary.tokens())
        .put("restorable", boundary.isPoint())
        .put("branch", boundary.isBranch())
        .put("children", boundary.children())
        .put("row_record_bytes", boundary.rowBytes())
        .put("point_record_bytes", boundary.pointBytes())
        .put("added_millis", boundary.addedMillis());
  }
}
