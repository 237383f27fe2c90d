package dev.waymark.internal.codec;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdException;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Lossless. Takes elements apart into byte planes, and keeps each plane as a zstd frame of its own,
 * or as it is where the frame is not smaller: in one frame over all planes, the noise of mantissas
 * drowns what exponents would gain. A stored chunk:
 *
 * <pre>
 * u32[elementBytes]  stored length of each plane, from the least significant; a plane whose stored
 *                    length is its raw length, rawLength / elementBytes, is stored as it is
 * bytes              the planes, one after the other
 * </pre>
 */
final class PlanesChunkCodec implements ChunkCodec {
  /** Below this a frame's own header outweighs what it could save. */
  private static final int MIN_RAW_BYTES = 64;

  /** Stands for the place of a plane that was decompressed into the scratch. */
  private static final int IN_SCRATCH = -1;

  private final int elementBytes;
  private final boolean rotated;

  private PlanesChunkCodec(int elementBytes, boolean rotated) {
    this.elementBytes = elementBytes;
    this.rotated = rotated;
  }

  static PlanesChunkCodec of(DType dtype) {
    return new PlanesChunkCodec(
        dtype.sizeBytes(),
        switch (dtype) {
          case F16, BF16, F32, F64 -> true;
          default -> false;
        });
  }

  @Override
  public Codec codec() {
    return Codec.PLANES;
  }

  @Override
  public int chunkRawBytes() {
    return ChunkCodecs.MAX_CHUNK_RAW_BYTES;
  }

  @Override
  public int maxStoredBytes(int rawLength) {
    return rawLength;
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
    Ranges.check(target, targetIndex, rawLength, "target");
    if (rawLength < MIN_RAW_BYTES || rawLength % elementBytes != 0) {
      return RawReason.NOT_SMALLER.result();
    }
    int planeBytes = rawLength / elementBytes;
    UnsafeBuffer planes = scratch.planes();
    split(scratch, source, sourceIndex, rawLength, planes);

    UnsafeBuffer frame = scratch.frame();
    int stored = headerBytes();
    for (int k = 0; k < elementBytes; k++) {
      int plane = planeIndex(k, planeBytes);
      int frameBytes =
          scratch.sample().isNoise(planes, plane, planeBytes)
              ? planeBytes
              : compressor(scratch, k)
                  .compressDirectByteBuffer(
                      frame.byteBuffer(),
                      0,
                      frame.capacity(),
                      planes.byteBuffer(),
                      plane,
                      planeBytes);
      boolean asItIs = frameBytes >= planeBytes;
      int planeStored = asItIs ? planeBytes : frameBytes;
      if (stored + planeStored >= rawLength) {
        return RawReason.NOT_SMALLER.result();
      }
      target.putInt(targetIndex + Integer.BYTES * k, planeStored, ByteOrder.LITTLE_ENDIAN);
      target.putBytes(
          targetIndex + stored, asItIs ? planes : frame, asItIs ? plane : 0, planeStored);
      stored += planeStored;
    }
    return stored;
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
    if (rawLength < MIN_RAW_BYTES || rawLength % elementBytes != 0) {
      throw Ranges.corrupt(
          "a chunk of that raw length is never stored in planes",
          "a multiple of " + elementBytes + ", at least " + MIN_RAW_BYTES,
          rawLength);
    }
    if (storedLength <= headerBytes() || storedLength >= rawLength) {
      throw Ranges.corrupt(
          "a chunk of planes has the wrong length",
          "more than " + headerBytes() + " and less than " + rawLength,
          storedLength);
    }
    int planeBytes = rawLength / elementBytes;
    UnsafeBuffer planes = scratch.planes();
    int[] rawPlanes = scratch.rawPlanes();
    long end = headerBytes();
    for (int k = 0; k < elementBytes; k++) {
      int planeStored = source.getInt(sourceIndex + Integer.BYTES * k, ByteOrder.LITTLE_ENDIAN);
      if (planeStored <= 0 || planeStored > planeBytes || end + planeStored > storedLength) {
        throw Ranges.corrupt(
            "plane " + k + " has a stored length that cannot be",
            "1 to " + Math.min(planeBytes, storedLength - end),
            Integer.toUnsignedString(planeStored));
      }
      if (planeStored == planeBytes) {
        rawPlanes[k] = sourceIndex + (int) end;
      } else {
        rawPlanes[k] = IN_SCRATCH;
        UnsafeBuffer frame = scratch.frame();
        frame.putBytes(0, source, sourceIndex + (int) end, planeStored);
        decompress(scratch, frame, planeStored, planes, planeIndex(k, planeBytes), planeBytes);
      }
      end += planeStored;
    }
    Ranges.checkStoredLength(storedLength, end);
    join(scratch, source, rawPlanes, rawLength, target, targetIndex);
  }

  /**
   * Decompresses exactly one frame of exactly that content. zstd alone would take a shorter
   * content, and further frames after it.
   */
  private static void decompress(
      CodecScratch scratch,
      UnsafeBuffer frame,
      int frameBytes,
      UnsafeBuffer planes,
      int plane,
      int planeBytes) {
    try {
      long content =
          Zstd.getDirectByteBufferFrameContentSize(frame.byteBuffer(), 0, frameBytes, false);
      if (content != planeBytes) {
        throw Ranges.corrupt("a frame states the wrong content size", planeBytes, content);
      }
      long whole = Zstd.findDirectByteBufferFrameCompressedSize(frame.byteBuffer(), 0, frameBytes);
      if (whole != frameBytes) {
        throw Ranges.corrupt("a frame has the wrong length", frameBytes, whole);
      }
      int decompressed =
          scratch
              .decompressor()
              .decompressDirectByteBuffer(
                  planes.byteBuffer(), plane, planeBytes, frame.byteBuffer(), 0, frameBytes);
      if (decompressed != planeBytes) {
        throw Ranges.corrupt("a frame has less content than it states", planeBytes, decompressed);
      }
    } catch (ZstdException e) {
      throw new CorruptionException(
          ErrorDetail.of("a plane does not decompress").found(e.getMessage()), e);
    }
  }

  private void split(
      CodecScratch scratch,
      DirectBuffer source,
      int sourceIndex,
      int rawLength,
      UnsafeBuffer planes) {
    int planeBytes = rawLength / elementBytes;
    if (elementBytes == 1) {
      planes.putBytes(0, source, sourceIndex, rawLength);
      return;
    }
    PlaneBlock block = scratch.planeBlock();
    for (int done = 0; done < rawLength; done += PlaneBlock.BLOCK_BYTES) {
      int count = Math.min(PlaneBlock.BLOCK_BYTES, rawLength - done) / elementBytes;
      int index = planeIndex(0, planeBytes) + done / elementBytes;
      block.split(
          elementBytes, rotated, source, sourceIndex + done, count, planes, index, planeBytes);
    }
  }

  /** Puts planes together, those at an index of the source and those in the scratch. */
  private void join(
      CodecScratch scratch,
      DirectBuffer source,
      int[] rawPlanes,
      int rawLength,
      MutableDirectBuffer target,
      int targetIndex) {
    int planeBytes = rawLength / elementBytes;
    UnsafeBuffer planes = scratch.planes();
    if (elementBytes == 1) {
      target.putBytes(targetIndex, planes, 0, rawLength);
      return;
    }
    PlaneBlock block = scratch.planeBlock();
    for (int done = 0; done < rawLength; done += PlaneBlock.BLOCK_BYTES) {
      int count = Math.min(PlaneBlock.BLOCK_BYTES, rawLength - done) / elementBytes;
      for (int k = 0; k < elementBytes; k += 2) {
        int low = rawPlanes[k];
        int high = rawPlanes[k + 1];
        block.lane(
            k,
            elementBytes,
            low == IN_SCRATCH ? planes : source,
            (low == IN_SCRATCH ? planeIndex(k, planeBytes) : low) + done / elementBytes,
            high == IN_SCRATCH ? planes : source,
            (high == IN_SCRATCH ? planeIndex(k + 1, planeBytes) : high) + done / elementBytes,
            count);
      }
      block.join(elementBytes, rotated, count, target, targetIndex + done);
    }
  }

  private ZstdCompressCtx compressor(CodecScratch scratch, int plane) {
    boolean exponents = rotated && plane == elementBytes - 1;
    return exponents ? scratch.exponentCompressor() : scratch.compressor();
  }

  private int headerBytes() {
    return Integer.BYTES * elementBytes;
  }

  /** Where a plane starts in the scratch. */
  private static int planeIndex(int k, int planeBytes) {
    return k * planeBytes;
  }
}
