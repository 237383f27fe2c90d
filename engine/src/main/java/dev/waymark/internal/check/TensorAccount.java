package dev.waymark.internal.check;

import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.codec.CodecFit;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.layout.Codec;
import dev.waymark.layout.TensorSpec;
import java.util.Map;
import java.util.TreeMap;

/** How the parts of one tensor are stored, added up part by part. */
public final class TensorAccount {
  private final int namespaceId;
  private final TensorSpec spec;
  private final Codec asked;
  private final CodecFit fit;
  private long parts;
  private long partsRaw;
  private long chunks;
  private long chunksRaw;
  private long rawBytes;
  private long storedBytes;
  private final Map<String, Long> reasons = new TreeMap<>();

  TensorAccount(NamespaceState namespace, TensorSpec spec) {
    this.namespaceId = namespace.id();
    this.spec = spec;
    this.asked = namespace.codecs().of(spec);
    this.fit = ChunkCodecs.fit(asked, spec);
  }

  void add(RecordReader reader, RecordHeader record, RecordHeader.Part part) {
    long leftRaw = 0;
    Map<String, Long> found = new TreeMap<>();
    for (int i = 0; i < part.chunkCount(); i++) {
      String reason = reason(reader, record, part, i);
      if (reason != null) {
        leftRaw++;
        found.merge(reason, 1L, Long::sum);
      }
    }
    // Only now, so that a part that cannot be read is not counted in half.
    parts++;
    partsRaw += leftRaw > 0 ? 1 : 0;
    chunks += part.chunkCount();
    chunksRaw += leftRaw;
    rawBytes += part.range().rawBytes(spec);
    storedBytes += part.storedBytes();
    found.forEach((reason, count) -> reasons.merge(reason, count, Long::sum));
  }

  /** Why a chunk is as it is although another codec is asked for; null where it is not. */
  private String reason(
      RecordReader reader, RecordHeader record, RecordHeader.Part part, int chunk) {
    if (record.isStoredRaw(part, chunk)) {
      return reader.whyStoredRaw(record, part, chunk).text();
    }
    if (part.codec().codec() != Codec.RAW || asked == Codec.RAW) {
      return null;
    }
    return fit == CodecFit.FITS ? "written when RAW was asked for" : fit.reason();
  }

  /** Number of the namespace. */
  public int namespaceId() {
    return namespaceId;
  }

  /** The tensor. */
  public TensorSpec spec() {
    return spec;
  }

  /** The codec that the namespace asks for. */
  public Codec asked() {
    return asked;
  }

  /** Parts in records that live. */
  public long parts() {
    return parts;
  }

  /** Parts of which a chunk, or all, is stored as it is although a codec is asked for. */
  public long partsRaw() {
    return partsRaw;
  }

  /** Chunks of all parts. */
  public long chunks() {
    return chunks;
  }

  /** Chunks that are stored as they are although a codec is asked for. */
  public long chunksRaw() {
    return chunksRaw;
  }

  /** Raw bytes of all parts. */
  public long rawBytes() {
    return rawBytes;
  }

  /** Stored bytes of all parts. */
  public long storedBytes() {
    return storedBytes;
  }

  /** Why chunks are stored as they are, and how many are for that reason. */
  public Map<String, Long> reasons() {
    return Map.copyOf(reasons);
  }
}
