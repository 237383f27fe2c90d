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
 *   <li>Made as needed and never larger than the largest chunk asks for, about 8 MiB in all:
 *       {@value #PLANE_BUFFER_BYTES} bytes for planes, as much again for frames, a few hundred KiB
 *       of arrays (4 MiB for {@code INT8} rows of 1 MiB) and zstd's own contexts.
 * </ul>
 */
public final class CodecScratch implements AutoCloseable {
  /**
   * Level 1: negative levels leave literals uncompressed, and 2 and 3 are slower and no smaller.
   */
  private static final int ZSTD_LEVEL = 1;

  /** Room for the planes of one chunk, each rounded up to whole 64-bit words. */
  private static final int PLANE_BUFFER_BYTES = ChunkCodecs.MAX_CHUNK_RAW_BYTES + 8 * Long.BYTES;

  /** Room for the largest frame of one plane, by zstd's own formula (and some more). */
  private static final int FRAME_BUFFER_BYTES =
      ChunkCodecs.MAX_CHUNK_RAW_BYTES + (ChunkCodecs.MAX_CHUNK_RAW_BYTES >> 8) + 128;

  private UnsafeBuffer planes;
  private UnsafeBuffer frame;
  private ZstdCompressCtx compressor;
  private ZstdDecompressCtx decompressor;
  private PlaneBlock planeBlock;
  private RowBlock rowBlock;
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

  ZstdCompressCtx compressor() {
    checkOpen();
    if (compressor == null) {
      // No content checksum: the caller's CRC32C covers the frame, and is checked first.
      compressor =
          new ZstdCompressCtx().setLevel(ZSTD_LEVEL).setChecksum(false).setContentSize(true);
    }
    return compressor;
  }

  ZstdDecompressCtx decompressor() {
    checkOpen();
    if (decompressor == null) {
      decompressor = new ZstdDecompressCtx();
    }
    return decompressor;
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

  /** Gives the native memory back; idempotent. No call may be under way or follow. */
  @Override
  public void close() {
    closed = true;
    if (compressor != null) {
      compressor.close();
      compressor = null;
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
