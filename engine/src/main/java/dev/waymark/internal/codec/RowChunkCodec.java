package dev.waymark.internal.codec;

import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Rows as one f32 scale and one small integer an element: {@code INT8}, and after a randomised
 * Hadamard transform, which spreads an outlier over its row, {@code RHT_INT8} and {@code
 * RHT_INT16}. A stored chunk:
 *
 * <pre>
 * f32[rows]                scales, zero or from 2^-112 to 2^106
 * i8 or i16[rows][width]   values
 * </pre>
 *
 * <p>All arithmetic is in f32. {@code INT8} decodes to {@code value * scale}. The others decode to
 * {@code sum * (scale * norm) * sign + 0}: the sums are the Walsh-Hadamard transform of the row's
 * integers, and norm is the f32 nearest to the inverse root of the width. The sums are integers,
 * and exact up to 2^24: always for {@code RHT_INT8}, and for {@code RHT_INT16} of at most 512
 * elements a row. Rows are tied to the chunk's start; a chunk that is no whole number of rows is
 * stored raw.
 */
final class RowChunkCodec implements ChunkCodec {
  static final int SCALE_BYTES = Float.BYTES;

  /**
   * Added to a float of magnitude below 2^22, this rounds it to an integer, ties to even, and
   * leaves the integer in the low bits: the vectorisable way from float to int.
   */
  private static final float ROUNDER = 0x1.8p23f;

  /**
   * Bounds of a scale that is not zero, from those of a row's magnitude, width and largest integer.
   */
  private static final float MIN_SCALE = 0x1p-112f;

  private static final float MAX_SCALE = 0x1p106f;

  private final Codec codec;
  private final DType dtype;
  private final int rowWidth;
  private final int rowRawBytes;
  private final int rowStoredBytes;
  private final int chunkRawBytes;
  private final int rowsPerBlock;
  private final int valueBytes;
  private final int largestValue;

  /** The part of a chunk's squared norm that its squared error may be; only with transform. */
  private final float allowed;

  /** Signs for a block of rows; null without transform. */
  private final float[] signs;

  private final float norm;

  RowChunkCodec(Codec codec, DType dtype, int rowWidth) {
    this.codec = codec;
    this.dtype = dtype;
    this.rowWidth = rowWidth;
    valueBytes = codec == Codec.RHT_INT16 ? Short.BYTES : Byte.BYTES;
    largestValue = codec == Codec.RHT_INT16 ? Short.MAX_VALUE : Byte.MAX_VALUE;
    rowRawBytes = rowWidth * dtype.sizeBytes();
    rowStoredBytes = SCALE_BYTES + rowWidth * valueBytes;
    chunkRawBytes = ChunkCodecs.MAX_CHUNK_RAW_BYTES / rowRawBytes * rowRawBytes;
    rowsPerBlock = Math.max(1, RowBlock.BLOCK_ELEMENTS / rowWidth);
    boolean transformed = codec != Codec.INT8;
    signs = transformed ? SignDiagonal.repeated(rowWidth) : null;
    norm = transformed ? (float) (1 / Math.sqrt(rowWidth)) : 1;
    // A hundredth is left for the rounding of what the check does not see.
    double relative = transformed ? 0.99 * LossyLimits.transformed(codec) : 0;
    allowed = (float) (relative * relative);
  }

  @Override
  public Codec codec() {
    return codec;
  }

  @Override
  public int chunkRawBytes() {
    return chunkRawBytes;
  }

  @Override
  public int maxStoredBytes(int rawLength) {
    return rawLength / rowRawBytes * rowStoredBytes;
  }

  @Override
  public int encode(
      CodecScratch scratch,
      DirectBuffer source,
      int sourceIndex,
      int rawLength,
      MutableDirectBuffer target,
      int targetIndex) {
    Ranges.checkRawLength(rawLength, chunkRawBytes);
    Ranges.check(source, sourceIndex, rawLength, "source");
    Ranges.check(target, targetIndex, maxStoredBytes(rawLength), "target");
    if (rawLength == 0 || rawLength % rowRawBytes != 0) {
      return RawReason.PARTIAL_ROW.result();
    }
    RowBlock block = scratch.rowBlock(rowWidth);
    int rows = rawLength / rowRawBytes;
    int valuesIndex = targetIndex + rows * SCALE_BYTES;
    int chunkMaxBits = 0;
    double excess = 0;
    for (int done = 0; done < rows; done += rowsPerBlock) {
      int blockRows = Math.min(rowsPerBlock, rows - done);
      int count = blockRows * rowWidth;
      block.load(dtype, source, sourceIndex + done * rowRawBytes, count);
      if (signs != null) {
        multiply(block.values, signs, count);
        Hadamard.transform(block.values, count, rowWidth);
      }
      Memory.bits(block.values, block.words, count);
      for (int row = 0; row < blockRows; row++) {
        int from = row * rowWidth;
        int maxBits = RowBlock.maxMagnitudeBits(block.words, from, from + rowWidth);
        if (LossyLimits.isHugeRow(maxBits)) {
          return whyTooLarge(block, source, sourceIndex + done * rowRawBytes, count).result();
        }
        chunkMaxBits = Math.max(chunkMaxBits, maxBits);
        float step = 0;
        float perStep = 0;
        if (!LossyLimits.isTinyRow(maxBits)) {
          float max = Float.intBitsToFloat(maxBits);
          step = max / largestValue;
          perStep = largestValue / max;
        }
        if (signs == null) {
          quantise(block.values, from, from + rowWidth, perStep);
        } else {
          quantise(block.values, block.excess, from, from + rowWidth, perStep, allowed);
          excess += (double) step * step * sum(block.excess, from, from + rowWidth);
        }
        target.putFloat(
            targetIndex + (done + row) * SCALE_BYTES, step * norm, ByteOrder.LITTLE_ENDIAN);
      }
      Memory.bits(block.values, block.words, count);
      int index = valuesIndex + done * rowWidth * valueBytes;
      if (valueBytes == 1) {
        narrow(block.words, block.bytes, count);
        Memory.store(block.bytes, target, index, count);
      } else {
        narrow(block.words, block.shorts, count);
        Memory.store(block.shorts, target, index, count * valueBytes);
      }
    }
    if (LossyLimits.isTinyChunk(chunkMaxBits)) {
      return RawReason.TOO_SMALL.result();
    }
    return excess > 0 ? RawReason.INEXACT.result() : rows * rowStoredBytes;
  }

  /** Looks at the raw values again: what overflowed in the transform was finite before it. */
  private RawReason whyTooLarge(RowBlock block, DirectBuffer source, int index, int count) {
    block.load(dtype, source, index, count);
    Memory.bits(block.values, block.words, count);
    return RowBlock.maxMagnitudeBits(block.words, 0, count) < RowBlock.NOT_FINITE_BITS
        ? RawReason.TOO_LARGE
        : RawReason.NOT_FINITE;
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
    Ranges.checkRawLength(rawLength, chunkRawBytes);
    Ranges.check(source, sourceIndex, storedLength, "source");
    Ranges.check(target, targetIndex, rawLength, "target");
    if (rawLength == 0 || rawLength % rowRawBytes != 0) {
      throw Ranges.corrupt(
          "a chunk of that raw length is never stored in rows",
          "a multiple of " + rowRawBytes,
          rawLength);
    }
    int rows = rawLength / rowRawBytes;
    Ranges.checkStoredLength(storedLength, (long) rows * rowStoredBytes);
    RowBlock block = scratch.rowBlock(rowWidth);
    int valuesIndex = sourceIndex + rows * SCALE_BYTES;
    for (int done = 0; done < rows; done += rowsPerBlock) {
      int blockRows = Math.min(rowsPerBlock, rows - done);
      int count = blockRows * rowWidth;
      int index = valuesIndex + done * rowWidth * valueBytes;
      if (valueBytes == 1) {
        Memory.load(source, index, count, block.bytes);
        widen(block.bytes, block.values, count);
      } else {
        Memory.load(source, index, count * valueBytes, block.shorts);
        widen(block.shorts, block.values, count);
      }
      if (signs != null) {
        Hadamard.transform(block.values, count, rowWidth);
      }
      for (int row = 0; row < blockRows; row++) {
        float scale =
            source.getFloat(sourceIndex + (done + row) * SCALE_BYTES, ByteOrder.LITTLE_ENDIAN);
        // Comparisons the other way round would let NaN pass.
        if (!(scale == 0 || (scale >= MIN_SCALE && scale <= MAX_SCALE))) {
          throw Ranges.corrupt("a row has a scale that cannot be", "0 or a usual f32", scale);
        }
        int from = row * rowWidth;
        scale(block.values, from, from + rowWidth, scale * norm);
      }
      if (signs != null) {
        unsign(block.values, signs, count);
      }
      block.store(dtype, target, targetIndex + done * rowRawBytes, count);
    }
  }

  private static void multiply(float[] values, float[] factors, int count) {
    for (int i = 0; i < count; i++) {
      values[i] *= factors[i];
    }
  }

  /**
   * As {@link #multiply}, and turns minus zero to zero, so that a row of zeros decodes to zeros.
   */
  private static void unsign(float[] values, float[] factors, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = values[i] * factors[i] + 0f;
    }
  }

  private static void quantise(float[] values, int from, int to, float perStep) {
    for (int i = from; i < to; i++) {
      values[i] = values[i] * perStep + ROUNDER;
    }
  }

  /**
   * As {@link #quantise}, and gives for each element its squared error less the allowed part of its
   * square, both in steps. An array of them, and not their sum, since the sum's order would keep
   * the loop from being vectorised.
   */
  private static void quantise(
      float[] values, float[] excess, int from, int to, float perStep, float allowed) {
    for (int i = from; i < to; i++) {
      float exact = values[i] * perStep;
      float rounded = exact + ROUNDER;
      float error = exact - (rounded - ROUNDER);
      values[i] = rounded;
      excess[i] = error * error - allowed * (exact * exact);
    }
  }

  private static float sum(float[] terms, int from, int to) {
    // Eight at once: one addition after the other would wait for each.
    float sum0 = 0;
    float sum1 = 0;
    float sum2 = 0;
    float sum3 = 0;
    float sum4 = 0;
    float sum5 = 0;
    float sum6 = 0;
    float sum7 = 0;
    int i = from;
    for (; i < to - 7; i += 8) {
      sum0 += terms[i];
      sum1 += terms[i + 1];
      sum2 += terms[i + 2];
      sum3 += terms[i + 3];
      sum4 += terms[i + 4];
      sum5 += terms[i + 5];
      sum6 += terms[i + 6];
      sum7 += terms[i + 7];
    }
    for (; i < to; i++) {
      sum0 += terms[i];
    }
    return ((sum0 + sum1) + (sum2 + sum3)) + ((sum4 + sum5) + (sum6 + sum7));
  }

  private static void scale(float[] values, int from, int to, float scale) {
    for (int i = from; i < to; i++) {
      values[i] *= scale;
    }
  }

  private static void narrow(int[] source, byte[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = (byte) source[i];
    }
  }

  private static void narrow(int[] source, short[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = (short) source[i];
    }
  }

  private static void widen(byte[] source, float[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = source[i];
    }
  }

  private static void widen(short[] source, float[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = source[i];
    }
  }
}
