package dev.waymark.internal.log;

import dev.waymark.internal.wire.FrameHeaderEncoder;
import dev.waymark.internal.wire.GroupSizeEncodingEncoder;
import dev.waymark.internal.wire.RecordEncoder;
import dev.waymark.layout.BoundaryKey;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * One record to be written: whose it is and which parts it holds. Its size is known before a byte
 * is copied; codecs can only make it smaller.
 *
 * @param coveredFrom of a DELTA the first window row that it may hold, else the boundary's tokens
 */
public record RecordPlan(
    RecordKind kind,
    int namespaceId,
    BoundaryKey key,
    BoundaryKey parentKey,
    long tokenFrom,
    long tokenTo,
    long coveredFrom,
    int pieceIndex,
    int pieceCount,
    List<PartPlan> parts) {

  /** Bytes of everything in front of the first part, before alignment. */
  static int frontBytes(int partCount, int chunkCount) {
    return FrameHeaderEncoder.ENCODED_LENGTH
        + RecordEncoder.BLOCK_LENGTH
        + 2 * GroupSizeEncodingEncoder.ENCODED_LENGTH
        + partCount * RecordEncoder.PartsEncoder.sbeBlockLength()
        + chunkCount * RecordEncoder.ChunksEncoder.sbeBlockLength();
  }

  int chunkCount() {
    int count = 0;
    for (PartPlan part : parts) {
      count += part.chunkCount();
    }
    return count;
  }

  int frontBytes() {
    return frontBytes(parts.size(), chunkCount());
  }

  /** Raw bytes of all parts. */
  public long rawBytes() {
    long bytes = 0;
    for (PartPlan part : parts) {
      bytes += part.rawBytes();
    }
    return bytes;
  }

  /** Bytes that the record occupies at most, whole pages: as if every chunk was left raw. */
  public long maxBytes() {
    return pages(PartPlan::rawBytes);
  }

  /**
   * Bytes that the record occupies where every chunk takes its codec, whole pages: exact, but for
   * lossless codecs, whose gain depends on the data and is taken as none.
   */
  public long encodedBytes() {
    return pages(PartPlan::encodedBytes);
  }

  private long pages(ToLongFunction<PartPlan> partBytes) {
    long end = Alignment.toPart(frontBytes());
    for (PartPlan part : parts) {
      end = Alignment.toPart(end) + partBytes.applyAsLong(part);
    }
    return Alignment.toPage(end);
  }

  RecordPlan withPieces(int index, int count, List<PartPlan> newParts) {
    return new RecordPlan(
        kind, namespaceId, key, parentKey, tokenFrom, tokenTo, coveredFrom, index, count, newParts);
  }
}
