package dev.waymark.internal.codec;

import dev.waymark.layout.Codec;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One codec, set up for one tensor. Invariants:
 *
 * <ul>
 *   <li>Immutable: threads share it. What a call needs of room comes from its {@link CodecScratch},
 *       which one thread uses at a time.
 *   <li>A stored chunk is never larger than the raw one; a chunk that would be is stored raw, which
 *       is the caller's to do and to note.
 *   <li>The same raw bytes give the same stored bytes in every process.
 *   <li>No call reads or writes outside the ranges that it was given, whatever the bytes say, and
 *       no room is allocated because of a length that was read.
 *   <li>Source and target do not overlap, and neither is a map of a file.
 * </ul>
 */
public sealed interface ChunkCodec
    permits RawChunkCodec, PlanesChunkCodec, Bf16ChunkCodec, RowChunkCodec {

  /** The codec that this is. */
  Codec codec();

  /**
   * Raw bytes in each chunk of a part but the last, which may have less. A part begins at the start
   * of a row; cutting it at multiples of this keeps rows whole.
   */
  int chunkRawBytes();

  /**
   * Bytes from the target index on that {@link #encode} may write, also where it then says that the
   * chunk is to be stored raw. At most {@code rawLength}.
   */
  int maxStoredBytes(int rawLength);

  /**
   * Encodes a chunk.
   *
   * @param rawLength from 0 to {@link #chunkRawBytes()}
   * @return the stored length, at most {@link #maxStoredBytes}; or less than zero, where the chunk
   *     is to be stored as it is, for the {@link RawReason#ofResult reason} that this stands for
   * @throws dev.waymark.error.InvalidArgumentException if a range does not lie in its buffer, or
   *     the chunk is longer than chunks are
   */
  int encode(
      CodecScratch scratch,
      DirectBuffer source,
      int sourceIndex,
      int rawLength,
      MutableDirectBuffer target,
      int targetIndex);

  /**
   * Decodes a chunk that {@link #encode} made. After a failure the target's range holds anything.
   *
   * @param rawLength what the chunk's place in its part says that its raw length is
   * @throws dev.waymark.error.CorruptionException if the stored bytes are not what {@link #encode}
   *     makes of a chunk of that length
   * @throws dev.waymark.error.InvalidArgumentException if a range does not lie in its buffer, or
   *     the chunk is longer than chunks are
   */
  void decode(
      CodecScratch scratch,
      DirectBuffer source,
      int sourceIndex,
      int storedLength,
      MutableDirectBuffer target,
      int targetIndex,
      int rawLength);
}
