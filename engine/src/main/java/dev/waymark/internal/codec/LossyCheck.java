package dev.waymark.internal.codec;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.Codec;
import dev.waymark.layout.TensorSpec;
import org.agrona.DirectBuffer;

/** Compares decoded chunks with raw ones against what a codec promises. */
public final class LossyCheck {
  private LossyCheck() {}

  /**
   * The largest relative L2 error that the codec may make in a chunk of the tensor; 0 if lossless.
   */
  public static double maxRelativeL2(Codec codec, TensorSpec tensor) {
    return LossyLimits.maxRelativeL2(
        codec, tensor.dtype(), (int) Math.min(tensor.rowWidth(), 1 << 20));
  }

  /** Measures one chunk of raw bytes against what became of it. */
  public static LossyError measure(
      CodecScratch scratch,
      Codec codec,
      TensorSpec tensor,
      DirectBuffer raw,
      int rawIndex,
      DirectBuffer decoded,
      int decodedIndex,
      int lengthBytes) {
    Ranges.check(raw, rawIndex, lengthBytes, "raw bytes");
    Ranges.check(decoded, decodedIndex, lengthBytes, "decoded bytes");
    double bound = maxRelativeL2(codec, tensor);
    if (equal(raw, rawIndex, decoded, decodedIndex, lengthBytes)) {
      return new LossyError(0, bound);
    }
    if (!codec.isLossy()) {
      return new LossyError(Double.POSITIVE_INFINITY, bound);
    }
    int elementBytes = tensor.dtype().sizeBytes();
    if (lengthBytes % elementBytes != 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a chunk has no whole number of elements")
              .expected("a multiple of " + elementBytes)
              .found(lengthBytes));
    }
    RowBlock ours = scratch.rowBlock(RowBlock.BLOCK_ELEMENTS);
    RowBlock theirs = scratch.otherRowBlock();
    double squaredError = 0;
    double squaredNorm = 0;
    int elements = lengthBytes / elementBytes;
    for (int done = 0; done < elements; done += RowBlock.BLOCK_ELEMENTS) {
      int count = Math.min(RowBlock.BLOCK_ELEMENTS, elements - done);
      ours.load(tensor.dtype(), raw, rawIndex + done * elementBytes, count);
      theirs.load(tensor.dtype(), decoded, decodedIndex + done * elementBytes, count);
      for (int i = 0; i < count; i++) {
        double value = ours.values[i];
        double difference = value - theirs.values[i];
        squaredNorm += value * value;
        squaredError += difference * difference;
      }
    }
    double relative = Math.sqrt(squaredError / squaredNorm);
    return new LossyError(Double.isNaN(relative) ? Double.POSITIVE_INFINITY : relative, bound);
  }

  private static boolean equal(
      DirectBuffer raw, int rawIndex, DirectBuffer decoded, int decodedIndex, int lengthBytes) {
    int i = 0;
    for (; i < lengthBytes - 7; i += Long.BYTES) {
      if (raw.getLong(rawIndex + i) != decoded.getLong(decodedIndex + i)) {
        return false;
      }
    }
    for (; i < lengthBytes; i++) {
      if (raw.getByte(rawIndex + i) != decoded.getByte(decodedIndex + i)) {
        return false;
      }
    }
    return true;
  }
}
