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
 * <p>{@code INT8} decodes to {@code value * scale}. The others decode to {@code sign * (sum *
 * (scale * norm))}: the sums are the Walsh-Hadamard transform of the row's integers, exact in 32
 * bits, and norm is the f32 nearest to the inverse root of the width. So a reader needs no care for
 * the order of operations. Rows are tied to the chunk's start; a chunk that is no whole number of
 * rows is stored raw.
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

  /**
   * What the chunk's squared error may be, over its squared norm; infinite where it needs no check.
   */
  private final double maxSquaredError;

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
    signs = transformed ? SignDiagonal.repeated(rowWidth, rowsPerBlock * rowWidth) : null;
    norm = transformed ? (float) (1 / Math.sqrt(rowWidth)) : 1;
    // A hundredth is left for the rounding of what the check does not see.
    double margin = transformed ? 0.99 * LossyLimits.transformed(codec) : Double.POSITIVE_INFINITY;
    maxSquaredError = margin * margin;
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
      return STORE_RAW;
    }
    RowBlock block = scratch.rowBlock(rowWidth);
    int rows = rawLength / rowRawBytes;
    int valuesIndex = targetIndex + rows * SCALE_BYTES;
    int chunkMaxBits = 0;
    double squaredError = 0;
    double squaredNorm = 0;
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
          return STORE_RAW;
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
          double stepSquared = (double) step * step;
          squaredError += stepSquared * quantiseAndSum(block, from, from + rowWidth, perStep);
          squaredNorm += stepSquared * block.squaredNorm;
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
    if (LossyLimits.isTinyChunk(chunkMaxBits) || squaredError > maxSquaredError * squaredNorm) {
      return STORE_RAW;
    }
    return rows * rowStoredBytes;
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
        widen(block.bytes, block.words, count);
      } else {
        Memory.load(source, index, count * valueBytes, block.shorts);
        widen(block.shorts, block.words, count);
      }
      if (signs != null) {
        Hadamard.transform(block.words, count, rowWidth);
      }
      for (int row = 0; row < blockRows; row++) {
        float scale =
            source.getFloat(sourceIndex + (done + row) * SCALE_BYTES, ByteOrder.LITTLE_ENDIAN);
        // Comparisons the other way round would let NaN pass.
        if (!(scale == 0 || (scale >= MIN_SCALE && scale <= MAX_SCALE))) {
          throw Ranges.corrupt("a row has a scale that cannot be", "0 or a usual f32", scale);
        }
        int from = row * rowWidth;
        dequantise(block.words, block.values, from, from + rowWidth, scale * norm);
      }
      if (signs != null) {
        multiply(block.values, signs, count);
      }
      block.store(dtype, target, targetIndex + done * rowRawBytes, count);
    }
  }

  private static void multiply(float[] values, float[] factors, int count) {
    for (int i = 0; i < count; i++) {
      values[i] *= factors[i];
    }
  }

  private static void quantise(float[] values, int from, int to, float perStep) {
    for (int i = from; i < to; i++) {
      values[i] = values[i] * perStep + ROUNDER;
    }
  }

  private static double quantiseAndSum(RowBlock block, int from, int to, float perStep) {
    float[] values = block.values;
    float error0 = 0;
    float error1 = 0;
    float norm0 = 0;
    float norm1 = 0;
    for (int i = from; i < to; i += 2) {
      float a = values[i] * perStep;
      float b = values[i + 1] * perStep;
      float roundedA = a + ROUNDER;
      float roundedB = b + ROUNDER;
      values[i] = roundedA;
      values[i + 1] = roundedB;
      float offA = a - (roundedA - ROUNDER);
      float offB = b - (roundedB - ROUNDER);
      error0 += offA * offA;
      error1 += offB * offB;
      norm0 += a * a;
      norm1 += b * b;
    }
    block.squaredNorm = (double) norm0 + norm1;
    return (double) error0 + error1;
  }

  private static void dequantise(int[] words, float[] values, int from, int to, float scale) {
    for (int i = from; i < to; i++) {
      values[i] = words[i] * scale;
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

  private static void widen(byte[] source, int[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = source[i];
    }
  }

  private static void widen(short[] source, int[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = source[i];
    }
  }
}
