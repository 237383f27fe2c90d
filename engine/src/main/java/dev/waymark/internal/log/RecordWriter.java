package dev.waymark.internal.log;

import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.codec.LossyCheck;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.wire.KeyEncoder;
import dev.waymark.internal.wire.RecordEncoder;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorView;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Writes one record into claimed space: gathers from the caller's memory, encodes, checksums,
 * writes out; its front last, so that a record that was cut short never reads as one.
 *
 * <p>Invariant: what is staged are the bytes of the record just before {@link #stagedEnd}, padding
 * included; parts that are small are written together.
 */
final class RecordWriter {
  private static final int CHUNK_ENTRY_BYTES = RecordEncoder.ChunksEncoder.sbeBlockLength();

  private final RecordPlan plan;
  private final MappedRegion region;
  private final long offset;
  private final WriteBehind behind;
  private final Scratch scratch;
  private final boolean verifyLossy;
  private final UnsafeBuffer front;
  private final long[] partOffsets;
  private final long[] partBytes;
  private long end;
  private int staged;
  private long stagedEnd;
  private int chunkEntry;
  private int chunksLeftRaw;

  /**
   * A writer of one record at {@code offset} of a region.
   *
   * @param verifyLossy whether what a lossy codec made is decoded and held against its stated error
   */
  RecordWriter(
      RecordPlan plan,
      MappedRegion region,
      long offset,
      WriteBehind behind,
      Scratch scratch,
      boolean verifyLossy) {
    this.plan = plan;
    this.region = region;
    this.offset = offset;
    this.behind = behind;
    this.scratch = scratch;
    this.verifyLossy = verifyLossy;
    int frontBytes = plan.frontBytes();
    this.front = new UnsafeBuffer(new byte[frontBytes]);
    this.chunkEntry = frontBytes - CHUNK_ENTRY_BYTES * plan.chunkCount();
    this.partOffsets = new long[plan.parts().size()];
    this.partBytes = new long[plan.parts().size()];
    this.end = Alignment.toPart(frontBytes);
    this.stagedEnd = end;
  }

  /** Writes it; returns its length, up to the last byte of its last part. */
  long write(StateViews views, long segmentId, long sequence, YieldPoints yields) {
    boolean large = plan.maxBytes() >= 2L * WriteBehind.STEP_BYTES;
    if (large) {
      behind.leaveOut(offset, offset + Alignment.toPage(front.capacity()));
    }
    for (int i = 0; i < partOffsets.length; i++) {
      PartPlan part = plan.parts().get(i);
      end = Alignment.toPart(end);
      partOffsets[i] = end;
      writePart(part, views.require(part.spec()), large);
      partBytes[i] = end - partOffsets[i];
    }
    writeStaged();
    yields.reached("payload copied");
    writeFront(segmentId, sequence);
    yields.reached("header written");
    return end;
  }

  /** Chunks that the codec asked for left as they were, or could not take. */
  int chunksLeftRaw() {
    return chunksLeftRaw;
  }

  private void writePart(PartPlan part, TensorView view, boolean large) {
    long rawBytes = part.rawBytes();
    for (long done = 0; done < rawBytes; ) {
      int raw = (int) Math.min(part.codec().chunkRawBytes(), rawBytes - done);
      if (part.codec().codec() == Codec.RAW) {
        chunksLeftRaw += part.isUnfit() ? 1 : 0;
        copyChunk(part, view, done, raw);
      } else {
        encodeChunk(part, view, done, raw);
      }
      if (large) {
        behind.reached(offset + stagedEnd - staged);
      }
      done += raw;
    }
  }

  private void copyChunk(PartPlan part, TensorView view, long rawOffset, int rawLength) {
    scratch.restartChecksum();
    for (int done = 0; done < rawLength; ) {
      int step = Math.min(Scratch.STAGED_BYTES, rawLength - done);
      int index = stage(end + done, step);
      view.gather(part.spec(), part.range(), rawOffset + done, scratch.staged(), index, step);
      scratch.addStaged(index, step);
      done += step;
    }
    putChunk(rawLength, rawLength, scratch.checksum());
  }

  private void encodeChunk(PartPlan part, TensorView view, long rawOffset, int rawLength) {
    view.gather(part.spec(), part.range(), rawOffset, scratch.raw(), 0, rawLength);
    int stored =
        part.codec().encode(scratch.codec(), scratch.raw(), 0, rawLength, scratch.stored(), 0);
    if (stored < 0 || !isWithinBound(part, rawLength, stored)) {
      chunksLeftRaw++;
      write(scratch.raw(), rawLength);
      putChunk(rawLength, rawLength | RecordHeader.STORED_RAW, scratch.checksumOfRaw(0, rawLength));
    } else {
      write(scratch.stored(), stored);
      putChunk(stored, stored, scratch.checksumOfStored(0, stored));
    }
  }

  /** Writes a whole chunk, which was made elsewhere. */
  private void write(UnsafeBuffer chunk, int length) {
    if (length <= Scratch.STAGED_BYTES) {
      scratch.staged().putBytes(stage(end, length), chunk, 0, length);
    } else {
      writeStaged();
      region.put(offset + end, chunk, 0, length);
      stagedEnd = end + length;
    }
  }

  /** Returns where to put bytes of the record that begin at a position, once there is room. */
  private int stage(long position, int length) {
    if (staged + (position - stagedEnd) + length > Scratch.STAGED_BYTES) {
      writeStaged();
    }
    int padding = staged == 0 ? 0 : (int) (position - stagedEnd);
    scratch.staged().setMemory(staged, padding, (byte) 0);
    int index = staged + padding;
    staged = index + length;
    stagedEnd = position + length;
    return index;
  }

  private void writeStaged() {
    if (staged > 0) {
      region.put(offset + stagedEnd - staged, scratch.staged(), 0, staged);
      staged = 0;
    }
  }

  /** A chunk whose error is larger than its codec states is stored as it is. */
  private boolean isWithinBound(PartPlan part, int rawLength, int stored) {
    ChunkCodec codec = part.codec();
    if (!verifyLossy || !codec.codec().isLossy()) {
      return true;
    }
    UnsafeBuffer decoded = scratch.decoded();
    codec.decode(scratch.codec(), scratch.stored(), 0, stored, decoded, 0, rawLength);
    return LossyCheck.measure(
            scratch.codec(), codec.codec(), part.spec(), scratch.raw(), 0, decoded, 0, rawLength)
        .isWithinBound();
  }

  private void putChunk(int bytes, int storedField, int checksum) {
    front.putInt(chunkEntry, storedField, ByteOrder.LITTLE_ENDIAN);
    front.putInt(chunkEntry + Integer.BYTES, checksum, ByteOrder.LITTLE_ENDIAN);
    chunkEntry += CHUNK_ENTRY_BYTES;
    end += bytes;
  }

  private void writeFront(long segmentId, long sequence) {
    RecordEncoder encoder = new RecordEncoder();
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
    RecordEncoder.PartsEncoder parts = encoder.partsCount(partOffsets.length);
    for (int i = 0; i < partOffsets.length; i++) {
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
          .storedLengthBytes(partBytes[i])
          .offsetBytes(partOffsets[i]);
    }
    // Only the group's header: its entries were written as their chunks were.
    encoder.chunksCount(plan.chunkCount());
    Frame.putMessageHeader(front, 0, RecordEncoder.BLOCK_LENGTH, RecordEncoder.TEMPLATE_ID);
    Frame.seal(front, 0, front.capacity(), Frame.tagOf(segmentId));
    region.put(offset, front, 0, front.capacity());
  }

  private static void put(KeyEncoder encoder, BoundaryKey key) {
    encoder.word0(key.word0()).word1(key.word1()).word2(key.word2()).word3(key.word3());
  }
}
