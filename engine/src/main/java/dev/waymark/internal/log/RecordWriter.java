package dev.waymark.internal.log;

import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.wire.KeyEncoder;
import dev.waymark.internal.wire.RecordEncoder;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorView;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Writes a record into claimed space: gathers from the caller's memory, encodes, checksums, copies
 * out; its front last, so that a record that was cut short never reads as one.
 */
final class RecordWriter {
  /** Gathered, checksummed and copied out while it is in the cache. */
  private static final int STEP_BYTES = 256 << 10;

  private RecordWriter() {}

  /**
   * Writes the record at {@code offset} of a region.
   *
   * @return its length, up to the last byte of its last part
   */
  static long write(
      RecordPlan plan,
      StateViews views,
      MappedRegion region,
      long segmentId,
      long offset,
      long sequence,
      Scratch scratch,
      YieldPoints yields) {
    int frontBytes = plan.frontBytes();
    UnsafeBuffer front = new UnsafeBuffer(new byte[frontBytes]);
    RecordEncoder encoder = new RecordEncoder();
    int chunkTable = frontBytes - 8 * plan.chunkCount();
    int chunk = 0;
    long end = Alignment.toPart(frontBytes);
    long[] storedLengths = new long[plan.parts().size()];
    long[] offsets = new long[plan.parts().size()];
    for (int i = 0; i < offsets.length; i++) {
      PartPlan part = plan.parts().get(i);
      end = Alignment.toPart(end);
      offsets[i] = end;
      TensorView view = views.require(part.spec());
      long rawBytes = part.rawBytes();
      for (long done = 0; done < rawBytes; ) {
        int raw = (int) Math.min(part.codec().chunkRawBytes(), rawBytes - done);
        long at = offset + end;
        int stored =
            writeChunk(part, view, done, raw, region, at, scratch, front, chunkTable, chunk);
        chunk++;
        done += raw;
        end += stored;
      }
      storedLengths[i] = end - offsets[i];
    }
    encoder
        .wrap(front, Frame.HEADER_BYTES)
        .sequence(sequence)
        .segmentId(segmentId)
        .lengthBytes(end)
        .tokenFrom(plan.tokenFrom())
        .tokenTo(plan.tokenTo())
        .coveredFrom(plan.coveredFrom())
        .namespaceId(plan.namespaceId())
        .kind((short) plan.kind().wireCode())
        .pieceIndex(plan.pieceIndex())
        .pieceCount(plan.pieceCount());
    put(encoder.key(), plan.key());
    put(encoder.parentKey(), plan.parentKey());
    RecordEncoder.PartsEncoder parts = encoder.partsCount(offsets.length);
    for (int i = 0; i < offsets.length; i++) {
      PartPlan part = plan.parts().get(i);
      parts
          .next()
          .tensor(part.tensorIndex())
          .codec((short) part.codec().codec().wireCode())
          .outerFrom(part.range().outerFrom())
          .outerCount(part.range().outerCount())
          .chunkCount(part.chunkCount())
          .rowFrom(part.range().rowFrom())
          .rowCount(part.range().rowCount())
          .storedLengthBytes(storedLengths[i])
          .offsetBytes(offsets[i]);
    }
    // Only the group's header: its entries were written as their chunks were.
    encoder.chunksCount(chunk);
    Frame.putMessageHeader(front, 0, RecordEncoder.BLOCK_LENGTH, RecordEncoder.TEMPLATE_ID);
    Frame.seal(front, 0, frontBytes, Frame.tagOf(segmentId));
    yields.reached("payload copied");
    region.put(offset, front, 0, frontBytes);
    yields.reached("header written");
    return end;
  }

  private static int writeChunk(
      PartPlan part,
      TensorView view,
      long rawOffset,
      int rawLength,
      MappedRegion region,
      long at,
      Scratch scratch,
      UnsafeBuffer front,
      int chunkTable,
      int chunk) {
    ChunkCodec codec = part.codec();
    int entry = chunkTable + 8 * chunk;
    if (codec.codec() == Codec.RAW) {
      scratch.restartChecksum();
      for (int done = 0; done < rawLength; ) {
        int step = Math.min(STEP_BYTES, rawLength - done);
        view.gather(part.spec(), part.range(), rawOffset + done, scratch.raw(), 0, step);
        scratch.addRaw(0, step);
        region.put(at + done, scratch.raw(), 0, step);
        done += step;
      }
      putChunk(front, entry, rawLength, scratch.checksum());
      return rawLength;
    }
    view.gather(part.spec(), part.range(), rawOffset, scratch.raw(), 0, rawLength);
    int stored = codec.encode(scratch.codec(), scratch.raw(), 0, rawLength, scratch.stored(), 0);
    if (stored == ChunkCodec.STORE_RAW) {
      int checksum = scratch.checksumOfRaw(0, rawLength);
      region.put(at, scratch.raw(), 0, rawLength);
      putChunk(front, entry, rawLength | RecordHeader.STORED_RAW, checksum);
      return rawLength;
    }
    int checksum = scratch.checksumOfStored(0, stored);
    region.put(at, scratch.stored(), 0, stored);
    putChunk(front, entry, stored, checksum);
    return stored;
  }

  private static void putChunk(UnsafeBuffer front, int entry, int stored, int checksum) {
    front.putInt(entry, stored, java.nio.ByteOrder.LITTLE_ENDIAN);
    front.putInt(entry + 4, checksum, java.nio.ByteOrder.LITTLE_ENDIAN);
  }

  private static void put(KeyEncoder encoder, BoundaryKey key) {
    encoder.word0(key.word0()).word1(key.word1()).word2(key.word2()).word3(key.word3());
  }
}
