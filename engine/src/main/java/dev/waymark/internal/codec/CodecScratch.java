package dev.waymark.internal.codec;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.nio.ByteBuffer;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Room and zstd contexts for encoding and decoding, kept from call to call. Invariants:
 *
 * <ul>
 *   <li>One thread uses it at a time.
 *   <li>Made as needed, and bounded whatever the bytes say: 1 MiB for planes, 1 MiB for frames,
 *       about 1.5 MiB of zstd's own, 0.3 MiB of arrays, and for {@code INT8} rows wider than 4,096
 *       elements 11 bytes an element, 6 MiB at most.
 * </ul>
 */
public final class CodecScratch implements AutoCloseable {
  /**
   * Level 1: negative levels leave literals uncompressed, and 2 and 3 are slower and no smaller.
   */
  private static final int ZSTD_LEVEL = 1;

  /** The least that zstd takes: a match finder that remembers 64 places. */
  private static final int EXPONENT_HASH_LOG = 6;

  /** The longest least match that zstd takes. */
  private static final int EXPONENT_MIN_MATCH = 7;

  /** Room for the planes of one chunk. */
  private static final int PLANE_BUFFER_BYTES = ChunkCodecs.MAX_CHUNK_RAW_BYTES;

  /** Room for the largest frame of one plane, by zstd's own formula (and some more). */
  private static final int FRAME_BUFFER_BYTES =
      ChunkCodecs.MAX_CHUNK_RAW_BYTES + (ChunkCodecs.MAX_CHUNK_RAW_BYTES >> 8) + 128;

  private UnsafeBuffer planes;
  private UnsafeBuffer frame;
  private ZstdCompressCtx compressor;
  private ZstdCompressCtx exponentCompressor;
  private ZstdDecompressCtx decompressor;
  private final int[] rawPlanes = new int[Long.BYTES];
  private PlaneBlock planeBlock;
  private RowBlock rowBlock;
  private RowBlock otherRowBlock;
  private Sample sample;
  private boolean closed;

  /** Makes an empty scratch. */
  public CodecScratch() {}

  /** Where planes stand apart; direct. */
  UnsafeBuffer planes() {
    checkOpen();
    if (planes == null) {
      planes = new UnsafeBuffer(ByteBuffer.allocateDirect(PLANE_BUFFER_BYTES));
    }
    return planes;
  }

  /** Where a frame stands; direct. */
  UnsafeBuffer frame() {
    checkOpen();
    if (frame == null) {
      frame = new UnsafeBuffer(ByteBuffer.allocateDirect(FRAME_BUFFER_BYTES));
    }
    return frame;
  }

  /** For planes of any kind. */
  ZstdCompressCtx compressor() {
    checkOpen();
    if (compressor == null) {
      compressor = newCompressor();
    }
    return compressor;
  }

  /**
   * For planes of exponents: draws from a few values, skewed but in no order. What matches there
   * are in them are chance, and cost more bits than the literals that they replace, and most of the
   * time. So the finder of matches is starved, and what remains is Huffman coding: smaller, and two
   * to three times as fast both ways. Runs are still found.
   */
  ZstdCompressCtx exponentCompressor() {
    checkOpen();
    if (exponentCompressor == null) {
      exponentCompressor =
          newCompressor().setHashLog(EXPONENT_HASH_LOG).setMinMatch(EXPONENT_MIN_MATCH);
    }
    return exponentCompressor;
  }

  private static ZstdCompressCtx newCompressor() {
    // No content checksum: the caller's CRC32C covers the frame, and is checked first.
    return new ZstdCompressCtx().setLevel(ZSTD_LEVEL).setChecksum(false).setContentSize(true);
  }

  ZstdDecompressCtx decompressor() {
    checkOpen();
    if (decompressor == null) {
      decompressor = new ZstdDecompressCtx();
    }
    return decompressor;
  }

  /** Where each plane that is stored as it is stands in the source. */
  int[] rawPlanes() {
    checkOpen();
    return rawPlanes;
  }

  PlaneBlock planeBlock() {
    checkOpen();
    if (planeBlock == null) {
      planeBlock = new PlaneBlock();
    }
    return planeBlock;
  }

  Sample sample() {
    checkOpen();
    if (sample == null) {
      sample = new Sample();
    }
    return sample;
  }

  /** Room for rows of that width. */
  RowBlock rowBlock(int rowWidth) {
    checkOpen();
    if (rowBlock == null || rowBlock.capacity() < rowWidth) {
      rowBlock = new RowBlock(rowWidth);
    }
    return rowBlock;
  }

  /** What the rows in {@link #rowBlock} are compared with, a block of narrow rows at a time. */
  RowBlock otherRowBlock() {
    checkOpen();
    if (otherRowBlock == null) {
      otherRowBlock = new RowBlock(RowBlock.BLOCK_ELEMENTS);
    }
    return otherRowBlock;
  }

  /** Gives the native memory back; idempotent. No call may be under way or follow. */
  @Override
  public void close() {
    closed = true;
    if (compressor != null) {
      compressor.close();
      compressor = null;
    }
    if (exponentCompressor != null) {
      exponentCompressor.close();
      exponentCompressor = null;
    }
    if (decompressor != null) {
      decompressor.close();
      decompressor = null;
    }
    free(planes);
    planes = null;
    free(frame);
    frame = null;
    planeBlock = null;
    rowBlock = null;
    otherRowBlock = null;
    sample = null;
  }

  private static void free(UnsafeBuffer buffer) {
    if (buffer != null) {
      ByteBuffer memory = buffer.byteBuffer();
      buffer.wrap(0, 0);
      BufferUtil.free(memory);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("scratch used after it was closed");
    }
  }
}
