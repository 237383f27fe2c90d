package dev.waymark;

import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.PartPlan;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordPlan;
import dev.waymark.internal.log.RecordSplitter;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.List;

/** Which rows of which tensors the records of a boundary hold. Pure. */
final class RecordPlans {
  private final int namespaceId;
  private final Layout layout;
  private final CodecPlan codecs;
  private final long maxRecordBytes;

  RecordPlans(NamespaceState namespace, long maxRecordBytes) {
    this(namespace.id(), namespace.layout(), namespace.codecs(), maxRecordBytes);
  }

  RecordPlans(int namespaceId, Layout layout, CodecPlan codecs, long maxRecordBytes) {
    this.namespaceId = namespaceId;
    this.layout = layout;
    this.codecs = codecs;
    this.maxRecordBytes = maxRecordBytes;
  }

  /** The boundary's own rows, and what of the sinks lies in its block. */
  List<RecordPlan> append(BoundaryKey key, BoundaryKey parentKey, int from, int to) {
    List<PartPlan> parts = new ArrayList<>();
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Rows) {
        add(parts, spec, spec.rowsAfter(from), spec.rowsAfter(to));
      } else if (spec.growth() instanceof Growth.Window window) {
        add(parts, spec, Math.min(from, window.sinkTokens()), Math.min(to, window.sinkTokens()));
      }
    }
    return split(RecordKind.APPEND, key, parentKey, from, to, to, parts);
  }

  /** The window rows that the chain does not cover; empty where there are none. */
  List<RecordPlan> delta(BoundaryKey key, BoundaryKey parentKey, int from, int to, int coveredTo) {
    List<PartPlan> parts = new ArrayList<>();
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Window window) {
        add(parts, spec, Layout.windowStart(window, coveredTo, to), to);
      }
    }
    return parts.isEmpty()
        ? List.of()
        : split(RecordKind.DELTA, key, parentKey, from, to, coveredTo, parts);
  }

  /** The fixed tensors; empty where there are none. */
  List<RecordPlan> state(BoundaryKey key, BoundaryKey parentKey, int from, int to) {
    List<PartPlan> parts = new ArrayList<>();
    for (TensorSpec spec : layout.tensors()) {
      if (spec.isFixed()) {
        add(parts, spec, 0, spec.rowsAfter(to));
      }
    }
    return parts.isEmpty()
        ? List.of()
        : split(RecordKind.STATE, key, parentKey, from, to, to, parts);
  }

  private void add(List<PartPlan> parts, TensorSpec spec, long from, long to) {
    PartRange range = new PartRange(0, spec.outer(), from, Math.max(0, to - from));
    if (range.rawBytes(spec) == 0) {
      return;
    }
    Codec wanted = codecs.of(spec);
    boolean fits = ChunkCodecs.applicable(wanted, spec);
    int index = layout.indexOf(spec.name());
    parts.add(
        new PartPlan(index, spec, range, ChunkCodecs.of(fits ? wanted : Codec.RAW, spec), !fits));
  }

  private List<RecordPlan> split(
      RecordKind kind,
      BoundaryKey key,
      BoundaryKey parentKey,
      int from,
      int to,
      int coveredFrom,
      List<PartPlan> parts) {
    return RecordSplitter.split(
        new RecordPlan(kind, namespaceId, key, parentKey, from, to, coveredFrom, 0, 1, parts),
        maxRecordBytes);
  }
}
