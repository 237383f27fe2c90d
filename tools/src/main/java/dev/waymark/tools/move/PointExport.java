package dev.waymark.tools.move;

import dev.waymark.StoreReader;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.NamespaceContent;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Progress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes a restore point as one safetensors file: the layout's tensors in its order, a few at a
 * time, so that what is in memory does not grow with the prefix but by its largest tensor.
 */
final class PointExport {
  private static final long AT_ONCE_BYTES = 64L << 20;

  private final StoreReader store;
  private final Boundary point;
  private final Layout layout;
  private final PointMetadata metadata;
  private final Progress progress;

  /** A tensor that is being written. */
  private record Piece(long position, List<ByteBuffer> buffers) {}

  PointExport(
      StoreReader store,
      NamespaceContent namespace,
      Boundary point,
      int[] tokenIds,
      Progress progress) {
    this.store = store;
    this.point = point;
    this.layout = namespace.layout();
    List<dev.waymark.layout.BoundaryKey> chain = store.chain(point);
    this.metadata =
        new PointMetadata(
            layout,
            namespace.identity(),
            namespace.codecs(),
            point.tokens(),
            chain.get(0),
            chain.subList(1, chain.size()),
            tokenIds);
    this.progress = progress;
  }

  /** Writes the file; returns its length. */
  long write(FileChannel out) throws IOException {
    SafetensorsWriter writer = new SafetensorsWriter(metadata.toMap());
    List<Long> begins = new ArrayList<>();
    for (TensorSpec spec : layout.tensors()) {
      long rows = PackedState.rows(spec, point.tokens());
      begins.add(writer.add(spec.name(), spec.dtype(), PackedState.shape(spec, rows)));
    }
    byte[] front = writer.front();
    write(out, 0, ByteBuffer.wrap(front));
    progress.begin("exporting");
    int next = 0;
    while (next < begins.size()) {
      next = writeSome(out, next, begins, front.length);
      progress.at(
          next == begins.size() ? writer.dataBytes() : begins.get(next),
          writer.dataBytes(),
          "bytes");
    }
    return front.length + writer.dataBytes();
  }

  /** Writes as many tensors from one on as go at once; returns the first that is left. */
  private int writeSome(FileChannel out, int first, List<Long> begins, long dataOffset)
      throws IOException {
    StateViews.Builder views = StateViews.builder();
    List<Piece> pieces = new ArrayList<>();
    long bytes = 0;
    int next = first;
    while (next < begins.size()) {
      TensorSpec spec = layout.tensors().get(next);
      long length = PackedState.bytes(spec, point.tokens());
      if (next > first && bytes + length > AT_ONCE_BYTES) {
        break;
      }
      List<ByteBuffer> buffers = HeapPieces.allocate(length);
      views.put(spec, PackedState.view(spec, Memory.of(buffers), point.tokens()));
      pieces.add(new Piece(dataOffset + begins.get(next), buffers));
      bytes += length;
      next++;
    }
    store.readPoint(point, views.build());
    for (Piece piece : pieces) {
      long at = piece.position();
      for (ByteBuffer buffer : piece.buffers()) {
        at += write(out, at, buffer);
      }
    }
    return next;
  }

  private static int write(FileChannel out, long position, ByteBuffer buffer) throws IOException {
    int length = buffer.remaining();
    long at = position;
    while (buffer.hasRemaining()) {
      at += out.write(buffer, at);
    }
    return length;
  }
}
