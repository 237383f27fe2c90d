package dev.waymark.internal.codec;

import dev.waymark.layout.Codec;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Leaves every chunk as it is. */
final class RawChunkCodec implements ChunkCodec {
  static final RawChunkCodec INSTANCE = new RawChunkCodec();

  private RawChunkCodec() {}

  @Override
  public Codec codec() {
    return Codec.RAW;
  }

  @Override
  public int chunkRawBytes() {
    return ChunkCodecs.MAX_CHUNK_RAW_BYTES;
  }

  @Override
  public int maxStoredBytes(int rawLength) {
    return rawLength;
  }

  /** Always says to store raw, so that the caller can write the source without a copy. */
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
    return RawReason.NOT_SMALLER.result();
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
    Ranges.checkStoredLength(storedLength, rawLength);
    target.putBytes(targetIndex, source, sourceIndex, rawLength);
  }
}
