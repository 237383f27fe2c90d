package dev.waymark.internal.retain;

import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.TensorSpec;

/**
 * What pieces of a model's state cost once encoded. Exact, but for the lossless codec, whose gain
 * depends on the data: there it is what the data cannot exceed.
 */
public final class StateCosts {
  private final Layout layout;
  private final CodecPlan codecs;
  private final long fixedBytes;

  /** Costs of a layout under a choice of codecs. */
  public StateCosts(Layout layout, CodecPlan codecs) {
    this.layout = layout;
    this.codecs = codecs;
    long fixed = 0;
    for (TensorSpec spec : layout.tensors()) {
      if (spec.isFixed()) {
        fixed += storedBytes(spec, new PartRange(0, 1, 0, spec.rowsAfter(0)));
      }
    }
    this.fixedBytes = fixed;
  }

  /** Bytes of the rows that {@code [from, to)} add. */
  public long rowBytes(long from, long to) {
    long bytes = 0;
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Rows) {
        long first = spec.rowsAfter(from);
        bytes += storedRows(spec, first, spec.rowsAfter(to) - first);
      } else if (spec.growth() instanceof Growth.Window window) {
        long first = Math.min(from, window.sinkTokens());
        bytes += storedRows(spec, first, Math.min(to, window.sinkTokens()) - first);
      }
    }
    return bytes;
  }

  /** Bytes of the window rows of a point at {@code to} whose chain covers those before. */
  public long windowBytes(long coveredTo, long to) {
    long bytes = 0;
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Window window) {
        long first = Layout.windowStart(window, coveredTo, to);
        bytes += storedRows(spec, first, to - first);
      }
    }
    return bytes;
  }

  /** Bytes of the fixed tensors. */
  public long fixedBytes() {
    return fixedBytes;
  }

  private long storedRows(TensorSpec spec, long from, long count) {
    return count <= 0 ? 0 : storedBytes(spec, new PartRange(0, spec.outer(), from, count));
  }

  private long storedBytes(TensorSpec spec, PartRange range) {
    Codec wanted = codecs.of(spec);
    long raw = range.rawBytes(spec);
    if (wanted == Codec.RAW || !ChunkCodecs.applicable(wanted, spec)) {
      return raw;
    }
    ChunkCodec codec = ChunkCodecs.of(wanted, spec);
    long whole = raw / codec.chunkRawBytes();
    int rest = (int) (raw % codec.chunkRawBytes());
    return whole * codec.maxStoredBytes(codec.chunkRawBytes()) + codec.maxStoredBytes(rest);
  }
}
