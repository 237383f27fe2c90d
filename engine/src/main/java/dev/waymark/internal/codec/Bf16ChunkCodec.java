package dev.waymark.internal.codec;

import dev.waymark.layout.Codec;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * f32 rounded to bf16, to nearest, ties to even. A stored chunk is the bf16 values in order. Chunks
 * of f32 that bf16 cannot hold within the bound are stored raw: see {@link LossyLimits}.
 */
final class Bf16ChunkCodec implements ChunkCodec {
  static final Bf16ChunkCodec INSTANCE = new Bf16ChunkCodec();

  /** The least magnitude that rounds to infinity, as bits. */
  private static final int ROUNDS_TO_INFINITY = 0x7F7F_8000;

  private Bf16ChunkCodec() {}

  @Override
  public Codec codec() {
    return Codec.BF16;
  }

  @Override
  public int chunkRawBytes() {
    return ChunkCodecs.MAX_CHUNK_RAW_BYTES;
  }

  @Override
  public int maxStoredBytes(int rawLength) {
    return rawLength / 2;
  }

  @Override
  public int encode(
      CodecScratch scratch,
      DirectBuffer source,
      int sourceIndex,
      int rawLength,
      MutableDirectBuffer target,
      int targetIndex) {
    Ranges.checkRawLength(rawLength, chunkRawBytes());
    Ranges.check(source, sourceIndex, rawLength, "source");
    Ranges.check(target, targetIndex, maxStoredBytes(rawLength), "target");
    if (rawLength == 0 || rawLength % Float.BYTES != 0) {
      return RawReason.PARTIAL_ROW.result();
    }
    RowBlock block = scratch.rowBlock(RowBlock.BLOCK_ELEMENTS);
    int elements = rawLength / Float.BYTES;
    int maxBits = 0;
    for (int done = 0; done < elements; done += RowBlock.BLOCK_ELEMENTS) {
      int count = Math.min(RowBlock.BLOCK_ELEMENTS, elements - done);
      Memory.load(source, sourceIndex + Float.BYTES * done, Float.BYTES * count, block.words);
      maxBits = Math.max(maxBits, RowBlock.maxMagnitudeBits(block.words, 0, count));
      if (maxBits >= ROUNDS_TO_INFINITY) {
        boolean finite = maxBits < RowBlock.NOT_FINITE_BITS;
        return (finite ? RawReason.TOO_LARGE : RawReason.NOT_FINITE).result();
      }
      RowBlock.roundToBf16(block.words, block.shorts, count);
      Memory.store(block.shorts, target, targetIndex + Short.BYTES * done, Short.BYTES * count);
    }
    return LossyLimits.isTinyChunk(maxBits) ? RawReason.TOO_SMALL.result() : rawLength / 2;
  }

  @Override
  public void decode(
      CodecScratch scratch,
      DirectBuffer source,
      int sourceIndex,
      int storedLength,
      MutableDirectBuffer target,
      int targetIndex,
      int rawLength) {
    Ranges.checkRawLength(rawLength, chunkRawBytes());
    Ranges.check(source, sourceIndex, storedLength, "source");
    Ranges.check(target, targetIndex, rawLength, "target");
    if (rawLength == 0 || rawLength % Float.BYTES != 0) {
      throw Ranges.corrupt(
          "a chunk of that raw length is never stored as bf16", "a multiple of 4", rawLength);
    }
    Ranges.checkStoredLength(storedLength, rawLength / 2);
    RowBlock block = scratch.rowBlock(RowBlock.BLOCK_ELEMENTS);
    int elements = rawLength / Float.BYTES;
    for (int done = 0; done < elements; done += RowBlock.BLOCK_ELEMENTS) {
      int count = Math.min(RowBlock.BLOCK_ELEMENTS, elements - done);
      Memory.load(source, sourceIndex + Short.BYTES * done, Short.BYTES * count, block.shorts);
      RowBlock.widenBf16(block.shorts, block.words, count);
      Memory.store(block.words, target, targetIndex + Float.BYTES * done, Float.BYTES * count);
    }
  }
}
