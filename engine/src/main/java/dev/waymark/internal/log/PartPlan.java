package dev.waymark.internal.log;

import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.TensorSpec;

/**
 * One part of a record to be written.
 *
 * @param tensorIndex place of the tensor in its layout
 * @param isUnfit whether it is stored as it is because the codec asked for cannot take the tensor
 */
public record PartPlan(
    int tensorIndex, TensorSpec spec, PartRange range, ChunkCodec codec, boolean isUnfit) {

  PartPlan withRange(PartRange newRange) {
    return new PartPlan(tensorIndex, spec, newRange, codec, isUnfit);
  }

  long rawBytes() {
    return range.rawBytes(spec);
  }

  /** Bytes of the part once encoded, where its codec's size does not depend on the data. */
  long encodedBytes() {
    int chunk = codec.chunkRawBytes();
    long raw = rawBytes();
    return raw / chunk * codec.maxStoredBytes(chunk) + codec.maxStoredBytes((int) (raw % chunk));
  }

  int chunkCount() {
    int chunk = codec.chunkRawBytes();
    return Math.toIntExact((rawBytes() + chunk - 1) / chunk);
  }
}
