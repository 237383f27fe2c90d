package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A second reader of stored chunks, written from their description, as plainly as can be. */
class StoredLayoutTest {
  private static final Set<DType> ROTATED = Set.of(DType.F16, DType.BF16, DType.F32, DType.F64);

  private final CodecScratch scratch = new CodecScratch();

  @AfterEach
  void close() {
    scratch.close();
  }

  @Test
  void planes() {
    for (DType dtype : DType.values()) {
      byte[] raw = new byte[9000 * dtype.sizeBytes()];
      SplittableRandom random = new SplittableRandom(11);
      for (int i = 0; i < raw.length; i++) {
        boolean top = i % dtype.sizeBytes() == dtype.sizeBytes() - 1;
        raw[i] = (byte) (top ? 60 + random.nextInt(5) : random.nextInt());
      }
      ChunkCodec codec = ChunkCodecs.of(Codec.PLANES, Samples.tensor(dtype, 8));
      byte[] stored = Samples.encode(codec, scratch, raw);
      assertThat(readPlanes(dtype, stored, raw.length)).isEqualTo(raw);
    }
  }

  @Test
  void rows() {
    SplittableRandom random = new SplittableRandom(12);
    for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.F16}) {
      for (int width : new int[] {2, 8, 64, 128, 1024, 4096}) {
        for (Codec codec : new Codec[] {Codec.INT8, Codec.RHT_INT8, Codec.RHT_INT16}) {
          if (ChunkCodecs.applicable(codec, Samples.tensor(dtype, width))) {
            ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(dtype, width));
            byte[] raw = Samples.bytes(dtype, Samples.normals(random, 5 * width));
            byte[] stored = Samples.encode(chunks, scratch, raw);
            assertThat(Samples.decode(chunks, scratch, stored, raw.length))
                .as("%s %s %s", codec, dtype, width)
                .isEqualTo(Samples.bytes(dtype, readRows(codec, width, 5, stored)));
          }
        }
      }
    }
  }

  @Test
  void bf16() {
    float[] values = Samples.normals(new SplittableRandom(13), 5000);
    ChunkCodec codec = ChunkCodecs.of(Codec.BF16, Samples.tensor(DType.F32, 8));
    byte[] raw = Samples.bytes(DType.F32, values);
    byte[] stored = Samples.encode(codec, scratch, raw);
    assertThat(stored).isEqualTo(Samples.bytes(DType.BF16, values));
    assertThat(Samples.decode(codec, scratch, stored, raw.length))
        .isEqualTo(Samples.bytes(DType.F32, Samples.floats(DType.BF16, stored)));
  }

  private static byte[] readPlanes(DType dtype, byte[] stored, int rawLength) {
    int size = dtype.sizeBytes();
    int count = rawLength / size;
    ByteBuffer in = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
    int at = 4 * size;
    byte[] raw = new byte[rawLength];
    byte[][] planes = new byte[size][];
    for (int k = 0; k < size; k++) {
      byte[] plane = Arrays.copyOfRange(stored, at, at + in.getInt(4 * k));
      at += plane.length;
      planes[k] = plane.length == count ? plane : Zstd.decompress(plane, count);
    }
    assertThat(at).isEqualTo(stored.length);
    for (int i = 0; i < count; i++) {
      long element = 0;
      for (int k = 0; k < size; k++) {
        element |= (planes[k][i] & 0xFFL) << (8 * k);
      }
      if (ROTATED.contains(dtype)) {
        element = (element >>> 1) | ((element & 1) << (8 * size - 1));
      }
      for (int k = 0; k < size; k++) {
        raw[i * size + k] = (byte) (element >>> (8 * k));
      }
    }
    return raw;
  }

  private static float[] readRows(Codec codec, int width, int rows, byte[] stored) {
    ByteBuffer in = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
    float[] scales = new float[rows];
    for (int row = 0; row < rows; row++) {
      scales[row] = in.getFloat();
    }
    float[] values = new float[rows * width];
    for (int row = 0; row < rows; row++) {
      float[] x = new float[width];
      for (int i = 0; i < width; i++) {
        x[i] = codec == Codec.RHT_INT16 ? in.getShort() : in.get();
      }
      float scale = scales[row];
      if (codec != Codec.INT8) {
        for (int step = 1; step < width; step *= 2) {
          for (int i = 0; i < width; i++) {
            if ((i & step) == 0) {
              float a = x[i];
              float b = x[i + step];
              x[i] = a + b;
              x[i + step] = a - b;
            }
          }
        }
        scale *= (float) (1 / Math.sqrt(width));
      }
      for (int i = 0; i < width; i++) {
        float value = x[i] * scale;
        boolean negative =
            codec != Codec.INT8
                && ((SignDiagonal.word(SignDiagonal.SEED, i / 64) >>> (i % 64)) & 1) == 1;
        values[row * width + i] = (negative ? -value : value) + 0f;
      }
    }
    assertThat(in.hasRemaining()).isFalse();
    return values;
  }
}
