package dev.waymark.internal.codec;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.TensorSpec;

/** Which codec fits which tensor, and how a part is cut into chunks. */
public final class ChunkCodecs {
  /** Raw bytes that no chunk exceeds. */
  public static final int MAX_CHUNK_RAW_BYTES = 1 << 20;

  /** The widest row that is transformed. */
  public static final int MAX_TRANSFORM_WIDTH = 4096;

  private ChunkCodecs() {}

  /** Whether parts of the tensor can be stored with the codec; if not, they are stored raw. */
  public static CodecFit fit(Codec codec, TensorSpec tensor) {
    return switch (codec) {
      case RAW, PLANES -> CodecFit.FITS;
      case BF16 -> tensor.dtype() == DType.F32 ? CodecFit.FITS : CodecFit.DTYPE;
      case INT8 -> rowFit(tensor, 1, false);
      case RHT_INT8 -> rowFit(tensor, 1, true);
      case RHT_INT16 -> rowFit(tensor, 2, true);
    };
  }

  /** Whether {@link #fit} says that it fits. */
  public static boolean applicable(Codec codec, TensorSpec tensor) {
    return fit(codec, tensor) == CodecFit.FITS;
  }

  /**
   * The codec set up for the tensor.
   *
   * @throws InvalidArgumentException if it does not fit; a reader that found the pair in a file
   *     takes that for damage
   */
  public static ChunkCodec of(Codec codec, TensorSpec tensor) {
    CodecFit fit = fit(codec, tensor);
    if (fit != CodecFit.FITS) {
      throw new InvalidArgumentException(
          ErrorDetail.of("codec " + codec + " cannot hold tensor '" + tensor.name() + "'")
              .found(fit.reason())
              .remedy("store the tensor raw"));
    }
    return switch (codec) {
      case RAW -> RawChunkCodec.INSTANCE;
      case PLANES -> PlanesChunkCodec.of(tensor.dtype());
      case BF16 -> Bf16ChunkCodec.INSTANCE;
      case INT8, RHT_INT8, RHT_INT16 ->
          new RowChunkCodec(codec, tensor.dtype(), (int) tensor.rowWidth());
    };
  }

  /**
   * Raw bytes in each chunk of the tensor's parts but the last.
   *
   * @throws InvalidArgumentException if the codec does not fit the tensor
   */
  public static int chunkRawBytes(Codec codec, TensorSpec tensor) {
    return of(codec, tensor).chunkRawBytes();
  }

  private static CodecFit rowFit(TensorSpec tensor, int valueBytes, boolean transformed) {
    DType dtype = tensor.dtype();
    if (dtype != DType.F32 && dtype != DType.BF16 && dtype != DType.F16) {
      return CodecFit.DTYPE;
    }
    long width = tensor.rowWidth();
    if (width == 0) {
      return CodecFit.EMPTY_ROW;
    }
    long widest = transformed ? MAX_TRANSFORM_WIDTH : MAX_CHUNK_RAW_BYTES / dtype.sizeBytes();
    if (width > widest) {
      return CodecFit.ROW_TOO_WIDE;
    }
    if (RowChunkCodec.SCALE_BYTES + width * valueBytes >= width * dtype.sizeBytes()) {
      return CodecFit.NO_GAIN;
    }
    return transformed && Long.bitCount(width) != 1
        ? CodecFit.WIDTH_NOT_POWER_OF_TWO
        : CodecFit.FITS;
  }
}
