package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.TensorSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ChunkCodecsTest {
  private static final int MIB = 1 << 20;

  @ParameterizedTest
  @EnumSource(DType.class)
  void losslessCodecsFitEverything(DType dtype) {
    TensorSpec tensor = TensorSpec.rows("t", dtype, 1, 8, -1, 6);
    assertThat(ChunkCodecs.fit(Codec.RAW, tensor)).isEqualTo(CodecFit.FITS);
    assertThat(ChunkCodecs.fit(Codec.PLANES, tensor)).isEqualTo(CodecFit.FITS);
    assertThat(ChunkCodecs.chunkRawBytes(Codec.RAW, tensor)).isEqualTo(MIB);
    assertThat(ChunkCodecs.chunkRawBytes(Codec.PLANES, tensor)).isEqualTo(MIB);
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void lossyCodecsTakeFloatsOnly(DType dtype) {
    boolean f32 = dtype == DType.F32;
    boolean row = f32 || dtype == DType.BF16 || dtype == DType.F16;
    TensorSpec tensor = Samples.tensor(dtype, 64);
    assertThat(ChunkCodecs.applicable(Codec.BF16, tensor)).isEqualTo(f32);
    assertThat(ChunkCodecs.applicable(Codec.INT8, tensor)).isEqualTo(row);
    assertThat(ChunkCodecs.applicable(Codec.RHT_INT8, tensor)).isEqualTo(row);
    assertThat(ChunkCodecs.applicable(Codec.RHT_INT16, tensor)).isEqualTo(f32);
    assertThat(ChunkCodecs.fit(Codec.INT8, tensor)).isEqualTo(row ? CodecFit.FITS : CodecFit.DTYPE);
  }

  @Test
  void saysWhyRowsDoNotFit() {
    assertThat(fit(Codec.RHT_INT8, DType.F32, 96)).isEqualTo(CodecFit.WIDTH_NOT_POWER_OF_TWO);
    assertThat(fit(Codec.INT8, DType.F32, 96)).isEqualTo(CodecFit.FITS);
    assertThat(fit(Codec.RHT_INT8, DType.F32, 8192)).isEqualTo(CodecFit.ROW_TOO_WIDE);
    assertThat(fit(Codec.RHT_INT8, DType.F32, 4096)).isEqualTo(CodecFit.FITS);
    assertThat(fit(Codec.RHT_INT8, DType.F32, 2)).isEqualTo(CodecFit.FITS);
    assertThat(fit(Codec.RHT_INT8, DType.F32, 1)).isEqualTo(CodecFit.NO_GAIN);
    assertThat(fit(Codec.RHT_INT16, DType.F32, 2)).isEqualTo(CodecFit.NO_GAIN);
    assertThat(fit(Codec.RHT_INT16, DType.F32, 4)).isEqualTo(CodecFit.FITS);
    assertThat(fit(Codec.RHT_INT16, DType.BF16, 128)).isEqualTo(CodecFit.NO_GAIN);
    assertThat(fit(Codec.RHT_INT8, DType.BF16, 4)).isEqualTo(CodecFit.NO_GAIN);
    assertThat(fit(Codec.RHT_INT8, DType.BF16, 8)).isEqualTo(CodecFit.FITS);
    assertThat(fit(Codec.INT8, DType.F32, 0)).isEqualTo(CodecFit.EMPTY_ROW);
    assertThat(fit(Codec.INT8, DType.F32, MIB / 4)).isEqualTo(CodecFit.FITS);
    assertThat(fit(Codec.INT8, DType.F32, MIB / 4 + 1)).isEqualTo(CodecFit.ROW_TOO_WIDE);
    assertThat(fit(Codec.INT8, DType.BF16, MIB / 2)).isEqualTo(CodecFit.FITS);
    TensorSpec tokensLast = TensorSpec.rows("t", DType.F32, 1, 8, -1);
    assertThat(ChunkCodecs.fit(Codec.INT8, tokensLast)).isEqualTo(CodecFit.NO_GAIN);
    for (CodecFit fit : CodecFit.values()) {
      assertThat(fit.reason()).isNotBlank();
    }
  }

  @Test
  void refusesWhatDoesNotFitWithTheReason() {
    TensorSpec tensor = Samples.tensor(DType.F32, 96);
    assertThatThrownBy(() -> ChunkCodecs.of(Codec.RHT_INT8, tensor))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("power of two");
    assertThatThrownBy(() -> ChunkCodecs.chunkRawBytes(Codec.BF16, Samples.tensor(DType.F16, 4)))
        .isInstanceOf(InvalidArgumentException.class);
  }

  @Test
  void chunksHoldWholeRows() {
    assertThat(chunk(Codec.RHT_INT8, DType.F32, 128)).isEqualTo(MIB);
    assertThat(chunk(Codec.INT8, DType.F32, 96)).isEqualTo(MIB / 384 * 384);
    assertThat(chunk(Codec.INT8, DType.BF16, 10_240)).isEqualTo(51 * 20_480);
    assertThat(chunk(Codec.INT8, DType.F32, MIB / 4)).isEqualTo(MIB);
    assertThat(chunk(Codec.INT8, DType.F32, MIB / 8 + 1)).isEqualTo(4 * (MIB / 8 + 1));
    assertThat(chunk(Codec.BF16, DType.F32, 96)).isEqualTo(MIB);
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void storedRoomIsNeverMoreThanRaw(Codec codec) {
    ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(DType.F32, 64));
    assertThat(chunks.codec()).isEqualTo(codec);
    for (int rawLength = 0; rawLength < 2048; rawLength++) {
      assertThat(chunks.maxStoredBytes(rawLength)).isBetween(0, rawLength);
    }
  }

  private static CodecFit fit(Codec codec, DType dtype, int rowWidth) {
    return ChunkCodecs.fit(codec, Samples.tensor(dtype, rowWidth));
  }

  private static int chunk(Codec codec, DType dtype, int rowWidth) {
    return ChunkCodecs.chunkRawBytes(codec, Samples.tensor(dtype, rowWidth));
  }
}
