package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.TensorSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;

/** Values for tests, the same on every machine: no logarithms, only sums of uniform numbers. */
final class Samples {
  private Samples() {}

  /** A tensor whose rows are that wide. */
  static TensorSpec tensor(DType dtype, int rowWidth) {
    return TensorSpec.fixed("t", dtype, 16, rowWidth);
  }

  /** As good as normal: twelve uniform numbers of 24 bits, less their mean. */
  static float normal(SplittableRandom random) {
    float sum = -6;
    for (int i = 0; i < 12; i++) {
      sum += (random.nextInt() >>> 8) * 0x1p-24f;
    }
    return sum;
  }

  static float[] normals(SplittableRandom random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = normal(random);
    }
    return values;
  }

  /** Bits without any order, so of every kind of value. */
  static byte[] noise(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** f32, bf16 or f16 bytes of the values. */
  static byte[] bytes(DType dtype, float... values) {
    ByteBuffer buffer =
        ByteBuffer.allocate(values.length * dtype.sizeBytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      switch (dtype) {
        case F32 -> buffer.putFloat(value);
        case BF16 -> buffer.putShort(toBf16(value));
        case F16 -> buffer.putShort(toF16(value));
        default -> throw new IllegalArgumentException(dtype.name());
      }
    }
    return buffer.array();
  }

  static float[] floats(DType dtype, byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    float[] values = new float[bytes.length / dtype.sizeBytes()];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (dtype) {
            case F32 -> buffer.getFloat();
            case BF16 -> Float.intBitsToFloat(buffer.getShort() << 16);
            case F16 -> fromF16(buffer.getShort());
            default -> throw new IllegalArgumentException(dtype.name());
          };
    }
    return values;
  }

  static short toBf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) ((bits >>> 16) | 0x40);
    }
    return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
  }

  /** By search over all halves: slow, and nothing like what it is compared with. */
  static short toF16(float value) {
    if (Float.isNaN(value)) {
      return 0x7E00;
    }
    int sign = Float.floatToRawIntBits(value) < 0 ? 0x8000 : 0;
    double magnitude = Math.abs((double) value);
    int low = 0;
    int high = 0x7C00;
    while (high - low > 1) {
      int middle = (low + high) / 2;
      if (fromF16((short) middle) <= magnitude) {
        low = middle;
      } else {
        high = middle;
      }
    }
    double below = magnitude - fromF16((short) low);
    double above = (high == 0x7C00 ? 65536.0 : fromF16((short) high)) - magnitude;
    boolean up = above < below || (above == below && (low & 1) == 1);
    return (short) (sign | (magnitude == Double.POSITIVE_INFINITY ? 0x7C00 : up ? high : low));
  }

  static float fromF16(short half) {
    int exponent = (half >>> 10) & 0x1F;
    int mantissa = half & 0x3FF;
    double magnitude =
        switch (exponent) {
          case 0 -> mantissa * 0x1p-24;
          case 31 -> mantissa == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
          default -> Math.scalb(1024.0 + mantissa, exponent - 25);
        };
    return (float) (half < 0 ? -magnitude : magnitude);
  }

  /** Why the chunk is to be stored raw; null where it is not. */
  static RawReason whyRaw(ChunkCodec codec, CodecScratch scratch, byte[] raw) {
    int result =
        codec.encode(
            scratch,
            new UnsafeBuffer(raw),
            0,
            raw.length,
            new UnsafeBuffer(new byte[codec.maxStoredBytes(raw.length)]),
            0);
    return result < 0 ? RawReason.ofResult(result) : null;
  }

  /** Encodes between guards; null where the chunk is to be stored raw. */
  static byte[] encode(ChunkCodec codec, CodecScratch scratch, byte[] raw) {
    Guarded source = Guarded.of(raw);
    int room = codec.maxStoredBytes(raw.length);
    Guarded target = Guarded.ofLength(room);
    int stored =
        codec.encode(scratch, source.buffer, source.index, raw.length, target.buffer, target.index);
    source.assertGuardsUntouched();
    target.assertGuardsUntouched();
    assertThat(source.bytes()).isEqualTo(raw);
    if (stored < 0) {
      return null;
    }
    assertThat(stored).isBetween(0, Math.min(room, raw.length));
    return target.bytes(stored);
  }

  /** Decodes between guards. */
  static byte[] decode(ChunkCodec codec, CodecScratch scratch, byte[] stored, int rawLength) {
    Guarded source = Guarded.of(stored);
    Guarded target = Guarded.ofLength(rawLength);
    try {
      codec.decode(
          scratch,
          source.buffer,
          source.index,
          stored.length,
          target.buffer,
          target.index,
          rawLength);
    } finally {
      source.assertGuardsUntouched();
      target.assertGuardsUntouched();
      assertThat(source.bytes()).isEqualTo(stored);
    }
    return target.bytes();
  }

  /** Relative L2 error of a round trip; chunks stored raw have none. */
  static LossyError roundTripError(Codec codec, TensorSpec tensor, byte[] raw) {
    try (CodecScratch scratch = new CodecScratch()) {
      ChunkCodec chunks = ChunkCodecs.of(codec, tensor);
      byte[] stored = encode(chunks, scratch, raw);
      byte[] decoded = stored == null ? raw : decode(chunks, scratch, stored, raw.length);
      return LossyCheck.measure(
          scratch,
          codec,
          tensor,
          new UnsafeBuffer(raw),
          0,
          new UnsafeBuffer(decoded),
          0,
          raw.length);
    }
  }
}
