package dev.waymark.tools.move;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.KeptChain;
import dev.waymark.StoreReader;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.NamespaceContent;
import dev.waymark.StoreReader.Share;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorView;
import dev.waymark.tools.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes the chains of a store, or of some of its namespaces, as an archive. */
final class ArchiveExport {
  private final StoreReader store;
  private final PointSelection selection;
  private final ArchiveWriter out;
  private final Map<Integer, NamespaceContent> namespaces = new HashMap<>();
  private long boundaries;
  private final Map<KeptAt, List<String>> names = new HashMap<>();
  private long points;
  private long namesWritten;
  private long namesLeftOut;

  private record KeptAt(BoundaryKey namespace, BoundaryKey key) {}

  /**
   * What was written.
   *
   * @param names under which chains are kept
   * @param namesLeftOut those of chains that have lost their restore point
   * @param hash of the last record, which stands for all
   */
  record Written(
      long boundaries, long points, long names, long namesLeftOut, long bytes, byte[] hash) {}

  ArchiveExport(StoreReader store, PointSelection selection, WritableByteChannel out) {
    this.store = store;
    this.selection = selection;
    this.out = new ArchiveWriter(out);
  }

  Written write(Progress progress) throws IOException {
    ObjectNode start = JsonNodeFactory.instance.objectNode();
    start.put("version", ArchiveFormat.VERSION);
    start.put("store", store.storeId());
    out.write(ArchiveFormat.Kind.START, start, List.of());
    for (KeptChain kept : store.kept()) {
      KeptAt at = new KeptAt(kept.namespace(), kept.key());
      names.computeIfAbsent(at, none -> new ArrayList<>()).add(kept.name());
    }
    for (NamespaceContent namespace : selection.namespaces()) {
      namespaces.put(namespace.id(), namespace);
      out.write(ArchiveFormat.Kind.NAMESPACE, head(namespace), List.of());
    }
    progress.begin("exporting");
    try {
      store.forEachBoundary(
          boundary -> {
            if (namespaces.containsKey(boundary.namespaceId())) {
              write(boundary);
              progress.at(boundaries, store.boundaries(), "boundaries");
            }
          });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    ObjectNode end = JsonNodeFactory.instance.objectNode();
    end.put("boundaries", boundaries);
    end.put("points", points);
    end.put("names", namesWritten);
    out.write(ArchiveFormat.Kind.END, end, List.of());
    return new Written(
        boundaries, points, namesWritten, namesLeftOut, out.writtenBytes(), out.hash());
  }

  private static ObjectNode head(NamespaceContent namespace) {
    ObjectNode head = JsonNodeFactory.instance.objectNode();
    head.put("id", namespace.id());
    head.put("identity", namespace.identity().toJson());
    head.put("layout", namespace.layout().toJson());
    head.put("codecs", namespace.codecs().toJson());
    return head;
  }

  private void write(Boundary boundary) {
    NamespaceContent namespace = namespaces.get(boundary.namespaceId());
    ObjectNode head = JsonNodeFactory.instance.objectNode();
    head.put("namespace", boundary.namespaceId());
    head.put("key", boundary.key().toHex());
    head.put("parent", boundary.parentKey().toHex());
    head.put("tokens", boundary.tokens());
    head.put("point", boundary.isRestorable());
    head.put("state", boundary.hasState());
    if (boundary.hasDelta()) {
      head.put("covered_from", boundary.coveredFrom());
    }
    putNames(head, namespace, boundary);
    List<ArchiveBody.Part> parts = ArchiveBody.parts(namespace.layout(), boundary);
    List<ByteBuffer> body = new ArrayList<>();
    for (Share share : Share.values()) {
      StateViews.Builder views = StateViews.builder();
      for (ArchiveBody.Part part : parts) {
        if (part.share() == share) {
          List<ByteBuffer> buffers = HeapPieces.allocate(part.lengthBytes());
          body.addAll(buffers);
          views.put(part.spec(), view(part, buffers));
        }
      }
      store.readOwn(boundary, share, views.build());
    }
    boundaries++;
    points += boundary.isRestorable() ? 1 : 0;
    try {
      out.write(ArchiveFormat.Kind.BOUNDARY, head, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void putNames(ObjectNode head, NamespaceContent namespace, Boundary boundary) {
    KeptAt at = new KeptAt(namespace.fingerprint(), boundary.key());
    List<String> keptAs = names.getOrDefault(at, List.of());
    if (keptAs.isEmpty()) {
      return;
    }
    if (!boundary.isRestorable()) {
      namesLeftOut += keptAs.size();
      return;
    }
    namesWritten += keptAs.size();
    keptAs.forEach(head.putArray("kept")::add);
  }

  private static TensorView view(ArchiveBody.Part part, List<ByteBuffer> buffers) {
    long inner = part.spec().innerBytes();
    return TensorView.linear(
        Memory.of(buffers),
        0,
        part.rows().count() * inner,
        inner,
        part.rows().from(),
        part.rows().to());
  }
}
