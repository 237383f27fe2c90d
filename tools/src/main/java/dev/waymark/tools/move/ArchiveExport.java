package dev.waymark.tools.move;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreReader;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.NamespaceContent;
import dev.waymark.StoreReader.Share;
import dev.waymark.layout.Layout;
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
  private final Map<Integer, Layout> layouts = new HashMap<>();
  private long boundaries;
  private long points;

  /**
   * What was written.
   *
   * @param hash of the last record, which stands for all
   */
  record Written(long boundaries, long points, long bytes, byte[] hash) {}

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
    for (NamespaceContent namespace : selection.namespaces()) {
      layouts.put(namespace.id(), namespace.layout());
      out.write(ArchiveFormat.Kind.NAMESPACE, head(namespace), List.of());
    }
    progress.begin("exporting");
    try {
      store.forEachBoundary(
          boundary -> {
            if (layouts.containsKey(boundary.namespaceId())) {
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
    out.write(ArchiveFormat.Kind.END, end, List.of());
    return new Written(boundaries, points, out.writtenBytes(), out.hash());
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
    List<ArchiveBody.Part> parts = ArchiveBody.parts(layouts.get(boundary.namespaceId()), boundary);
    List<ByteBuffer> body = new ArrayList<>();
    for (Share share : Share.values()) {
      StateViews.Builder views = StateViews.builder();
      for (ArchiveBody.Part part : parts) {
        if (part.share() == share) {
          ByteBuffer buffer = ByteBuffer.allocate(Math.toIntExact(part.lengthBytes()));
          body.add(buffer);
          views.put(part.spec(), view(part, buffer));
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

  private static TensorView view(ArchiveBody.Part part, ByteBuffer buffer) {
    long inner = part.spec().innerBytes();
    return TensorView.linear(
        Memory.of(buffer),
        0,
        part.rows().count() * inner,
        inner,
        part.rows().from(),
        part.rows().to());
  }
}
