package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.TensorSpec;
import java.util.Arrays;
import java.util.SplittableRandom;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterProperty;
import org.agrona.concurrent.UnsafeBuffer;

class LossyChunkCodecTest {
  private static final Codec[] ROW_CODECS = {Codec.INT8, Codec.RHT_INT8, Codec.RHT_INT16};

  private final CodecScratch scratch = new CodecScratch();

  @AfterProperty
  void close() {
    scratch.close();
  }

  @Provide
  Arbitrary<Codec> lossy() {
    return Arbitraries.of(Codec.BF16, Codec.INT8, Codec.RHT_INT8, Codec.RHT_INT16);
  }

  @Provide
  Arbitrary<DType> floats() {
    return Arbitraries.of(DType.F32, DType.BF16, DType.F16);
  }

  @Property(tries = 1500)
  void errorsAreWithinWhatIsStated(
      @ForAll("lossy") Codec codec,
      @ForAll("floats") DType dtype,
      @ForAll @IntRange(min = 1, max = 700) int width,
      @ForAll boolean powerOfTwo,
      @ForAll @IntRange(max = 40) int rows,
      @ForAll @IntRange(max = 6) int kind,
      @ForAll long seed) {
    int rowWidth = powerOfTwo ? Integer.highestOneBit(width) : width;
    TensorSpec tensor = Samples.tensor(dtype, rowWidth);
    if (!ChunkCodecs.applicable(codec, tensor)) {
      return;
    }
    byte[] raw = Samples.bytes(dtype, fill(kind, rows, rowWidth, seed));
    LossyError error = Samples.roundTripError(codec, tensor, raw);
    assertThat(error.isWithinBound()).as("%s", error).isTrue();
  }

  @Example
  void normalsOf128AsStated() {
    SplittableRandom random = new SplittableRandom(24);
    byte[] raw = Samples.bytes(DType.F32, Samples.normals(random, 1 << 18));
    TensorSpec tensor = Samples.tensor(DType.F32, 128);
    assertThat(error(Codec.RHT_INT16, tensor, raw)).isLessThanOrEqualTo(0.000_05);
    assertThat(error(Codec.BF16, tensor, raw)).isLessThanOrEqualTo(0.002);
    assertThat(error(Codec.RHT_INT8, tensor, raw)).isLessThanOrEqualTo(0.008);
    assertThat(error(Codec.INT8, tensor, raw)).isLessThanOrEqualTo(0.008);
  }

  @Example
  void normalsOfEveryWidthAreNotStoredRaw() {
    SplittableRandom random = new SplittableRandom(4);
    for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.F16}) {
      byte[] raw = Samples.bytes(dtype, Samples.normals(random, 1 << 16));
      for (int width = 2; width <= 4096; width *= 2) {
        for (Codec codec : ROW_CODECS) {
          TensorSpec tensor = Samples.tensor(dtype, width);
          if (ChunkCodecs.applicable(codec, tensor)) {
            assertThat(Samples.encode(ChunkCodecs.of(codec, tensor), scratch, raw))
                .as("%s %s %s", codec, dtype, width)
                .isNotNull();
          }
        }
      }
    }
  }

  /** One value of a hundred beside others of one. */
  @Example
  void theTransformSpreadsOutliers() {
    SplittableRandom random = new SplittableRandom(3);
    float[] values = Samples.normals(random, 1 << 18);
    for (int row = 0; row < values.length; row += 128) {
      values[row + random.nextInt(128)] = 100;
    }
    byte[] raw = Samples.bytes(DType.F32, values);
    TensorSpec tensor = Samples.tensor(DType.F32, 128);
    double plain = error(Codec.INT8, tensor, raw);
    double spread = error(Codec.RHT_INT8, tensor, raw);
    assertThat(spread).isGreaterThan(0).isLessThan(plain / 5);
  }

  @Example
  void recurrentStateTakesTheBytesItShould() {
    TensorSpec state = TensorSpec.fixed("state", DType.F32, 48, 128, 128);
    long raw = 48L * 48 * 128 * 128 * Float.BYTES;
    long conv = 48L * 3 * 10_240 * 2;
    assertThat(raw + conv).isEqualTo(153_944_064L);
    assertThat(storedLayers(Codec.RHT_INT8, state)).isEqualTo(38_928_384L);
    assertThat(storedLayers(Codec.RHT_INT8, state) + conv).isEqualTo(41_877_504L);
    assertThat(storedLayers(Codec.RHT_INT16, state) + conv).isEqualTo(79_626_240L);
  }

  @Example
  void whatIsNotFiniteIsStoredRaw() {
    for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
      for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.F16}) {
        for (int at : new int[] {0, 77, 511}) {
          float[] values = Samples.normals(new SplittableRandom(2), 512);
          values[at] = bad;
          assertAllStoreRaw(dtype, 64, values);
        }
      }
    }
  }

  @Example
  void whatIsStoredRawSaysWhy() {
    float[] values = Samples.normals(new SplittableRandom(2), 512);
    for (Codec codec : new Codec[] {Codec.BF16, Codec.INT8, Codec.RHT_INT8, Codec.RHT_INT16}) {
      assertThat(why(codec, 64, values)).as("%s", codec).isNull();
      for (float bad : new float[] {Float.NaN, Float.NEGATIVE_INFINITY}) {
        float[] spoiled = values.clone();
        spoiled[300] = bad;
        assertThat(why(codec, 64, spoiled)).as("%s", codec).isEqualTo(RawReason.NOT_FINITE);
      }
      // Finite, but some of their sums are not.
      float[] huge = new float[512];
      Arrays.fill(huge, Float.MAX_VALUE);
      assertThat(why(codec, 64, huge)).as("%s", codec).isEqualTo(RawReason.TOO_LARGE);
      float[] tiny = new float[512];
      Arrays.fill(tiny, 0x1p-70f);
      assertThat(why(codec, 64, tiny)).as("%s", codec).isEqualTo(RawReason.TOO_SMALL);
      byte[] scrap = new byte[63];
      assertThat(Samples.whyRaw(ChunkCodecs.of(codec, f32(64)), scratch, scrap))
          .as("%s", codec)
          .isEqualTo(RawReason.PARTIAL_ROW);
    }
    float[] gathered = SignDiagonal.repeated(4096).clone();
    SplittableRandom random = new SplittableRandom(8);
    for (int i = 0; i < gathered.length; i++) {
      gathered[i] *= 1 + 0.2f * Samples.normal(random);
    }
    assertThat(why(Codec.RHT_INT8, 4096, gathered)).isEqualTo(RawReason.INEXACT);
    byte[] noise = Samples.noise(random, 4096);
    assertThat(Samples.whyRaw(ChunkCodecs.of(Codec.PLANES, f32(64)), scratch, noise))
        .isEqualTo(RawReason.NOT_SMALLER);
  }

  private RawReason why(Codec codec, int width, float[] values) {
    byte[] raw = Samples.bytes(DType.F32, values);
    return Samples.whyRaw(ChunkCodecs.of(codec, f32(width)), scratch, raw);
  }

  private static TensorSpec f32(int width) {
    return Samples.tensor(DType.F32, width);
  }

  /** What the check would say of a codec that did not keep its promise. */
  @Example
  void anErrorAboveWhatIsStatedIsNoticed() {
    float[] values = Samples.normals(new SplittableRandom(5), 5000);
    byte[] raw = Samples.bytes(DType.F32, values);
    for (Codec codec : new Codec[] {Codec.BF16, Codec.INT8, Codec.RHT_INT8, Codec.RHT_INT16}) {
      double bound = LossyCheck.maxRelativeL2(codec, f32(128));
      for (double part : new double[] {0.99, 1.01}) {
        float[] off = values.clone();
        for (int i = 0; i < off.length; i++) {
          off[i] *= (float) (1 + part * bound);
        }
        LossyError error = measure(codec, raw, Samples.bytes(DType.F32, off));
        assertThat(error.relativeL2()).isCloseTo(part * bound, within(0.005 * bound));
        assertThat(error.isWithinBound()).isEqualTo(part < 1);
      }
      float[] one = values.clone();
      one[4999] = Float.NaN;
      assertThat(measure(codec, raw, Samples.bytes(DType.F32, one)).isWithinBound()).isFalse();
    }
    byte[] other = raw.clone();
    other[77] ^= 1;
    assertThat(measure(Codec.PLANES, raw, other).isWithinBound()).isFalse();
    assertThat(measure(Codec.PLANES, raw, raw.clone()).isWithinBound()).isTrue();
  }

  private LossyError measure(Codec codec, byte[] raw, byte[] decoded) {
    return LossyCheck.measure(
        scratch,
        codec,
        f32(128),
        new UnsafeBuffer(raw),
        0,
        new UnsafeBuffer(decoded),
        0,
        raw.length);
  }

  @Example
  void hugeAndTinyChunksAreStoredRaw() {
    float[] values = Samples.normals(new SplittableRandom(2), 512);
    values[300] = 3e38f;
    for (Codec codec : ROW_CODECS) {
      assertThat(encode(codec, DType.F32, 64, values)).isNull();
    }
    values[300] = Float.MAX_VALUE;
    assertThat(encode(Codec.BF16, DType.F32, 64, values)).isNull();
    values[300] = Float.intBitsToFloat(0x7F7F_7FFF);
    assertThat(encode(Codec.BF16, DType.F32, 64, values)).isNotNull();
    Arrays.fill(values, Float.MIN_VALUE);
    assertAllStoreRaw(DType.F32, 64, values);
    Arrays.fill(values, -0x1p-62f);
    values[1] = 0x1p-70f;
    values[65] = 0;
    assertThat(encode(Codec.INT8, DType.F32, 64, values)).isNull();
    assertThat(encode(Codec.BF16, DType.F32, 64, values)).isNull();
  }

  @Example
  void tinyRowsBesideOthersBecomeZero() {
    float[] values = Samples.normals(new SplittableRandom(2), 512);
    Arrays.fill(values, 64, 128, 3e-40f);
    for (Codec codec : ROW_CODECS) {
      float[] decoded = decode(codec, DType.F32, 64, values);
      assertThat(Arrays.copyOfRange(decoded, 64, 128)).containsOnly(0f);
      assertThat(decoded[0]).isCloseTo(values[0], within(0.05f));
    }
    float[] decoded = decode(Codec.BF16, DType.F32, 64, values);
    assertThat(decoded[64]).isCloseTo(3e-40f, within(5e-41f));
  }

  @Example
  void zerosStayZeros() {
    for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.F16}) {
      for (Codec codec : Codec.values()) {
        if (codec.isLossy() && ChunkCodecs.applicable(codec, Samples.tensor(dtype, 64))) {
          assertThat(decode(codec, dtype, 64, new float[512])).containsOnly(0f);
        }
      }
    }
  }

  @Example
  void bf16KeepsTheSignOfZeroAndRoundsTiesToEven() {
    float[] values = {
      -0.0f,
      0,
      1,
      Float.intBitsToFloat(0x3F80_8000),
      Float.intBitsToFloat(0x3F81_8000),
      Float.intBitsToFloat(0x3F80_8001),
      -Float.intBitsToFloat(0x3F80_8000),
      Float.MIN_VALUE
    };
    int[] expected = {
      0x8000_0000, 0, 0x3F80_0000, 0x3F80_0000, 0x3F82_0000, 0x3F81_0000, 0xBF80_0000, 0
    };
    float[] decoded = decode(Codec.BF16, DType.F32, 8, values);
    for (int i = 0; i < values.length; i++) {
      assertThat(Float.floatToRawIntBits(decoded[i])).as("value %s", i).isEqualTo(expected[i]);
    }
  }

  @Example
  void halvesNearTheLargestDoNotBecomeInfinite() {
    float[] values = new float[512];
    SplittableRandom random = new SplittableRandom(6);
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextBoolean() ? 65_504 : -65_504;
    }
    for (Codec codec : new Codec[] {Codec.INT8, Codec.RHT_INT8}) {
      for (float value : decode(codec, DType.F16, 64, values)) {
        assertThat(Math.abs(value)).isBetween(60_000f, 65_504f);
      }
    }
  }

  @Example
  void scrapsOfRowsAreStoredRaw() {
    for (Codec codec : ROW_CODECS) {
      assertThat(encode(codec, DType.F32, 64, new float[63])).isNull();
      assertThat(encode(codec, DType.F32, 64, new float[65])).isNull();
      assertThat(encode(codec, DType.F32, 64, new float[0])).isNull();
    }
    assertThat(encode(Codec.BF16, DType.F32, 64, new float[0])).isNull();
    ChunkCodec bf16 = ChunkCodecs.of(Codec.BF16, Samples.tensor(DType.F32, 64));
    assertThat(Samples.encode(bf16, scratch, new byte[7])).isNull();
  }

  /** All of a row's weight in one coefficient of the transform, the worst that can be. */
  @Example
  void aRowThatTheTransformGathersKeepsItsBoundOrIsStoredRaw() {
    float[] signs = SignDiagonal.repeated(4096);
    SplittableRandom random = new SplittableRandom(8);
    float[] values = new float[4096 * 4];
    for (int i = 0; i < values.length; i++) {
      values[i] = signs[i % 4096] * (1 + 0.2f * Samples.normal(random));
    }
    TensorSpec tensor = Samples.tensor(DType.F32, 4096);
    byte[] raw = Samples.bytes(DType.F32, values);
    assertThat(encode(Codec.RHT_INT8, DType.F32, 4096, values)).isNull();
    assertThat(Samples.roundTripError(Codec.RHT_INT16, tensor, raw).isWithinBound()).isTrue();
  }

  private long storedLayers(Codec codec, TensorSpec layer) {
    ChunkCodec chunks = ChunkCodecs.of(codec, layer);
    byte[] raw = Samples.bytes(DType.F32, Samples.normals(new SplittableRandom(7), 1 << 18));
    int chunksALayer = 48 * 128 * 128 * Float.BYTES / chunks.chunkRawBytes();
    return 48L * chunksALayer * Samples.encode(chunks, scratch, raw).length;
  }

  private static double error(Codec codec, TensorSpec tensor, byte[] raw) {
    LossyError error = Samples.roundTripError(codec, tensor, raw);
    assertThat(error.isWithinBound()).isTrue();
    return error.relativeL2();
  }

  private void assertAllStoreRaw(DType dtype, int width, float[] values) {
    for (Codec codec : Codec.values()) {
      if (codec.isLossy() && ChunkCodecs.applicable(codec, Samples.tensor(dtype, width))) {
        assertThat(encode(codec, dtype, width, values)).as("%s of %s", codec, dtype).isNull();
      }
    }
  }

  private byte[] encode(Codec codec, DType dtype, int width, float[] values) {
    ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(dtype, width));
    return Samples.encode(chunks, scratch, Samples.bytes(dtype, values));
  }

  private float[] decode(Codec codec, DType dtype, int width, float[] values) {
    ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(dtype, width));
    byte[] stored = encode(codec, dtype, width, values);
    return Samples.floats(
        dtype, Samples.decode(chunks, scratch, stored, values.length * dtype.sizeBytes()));
  }

  private static float[] fill(int kind, int rows, int rowWidth, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[rows * rowWidth];
    for (int i = 0; i < values.length; i++) {
      float normal = Samples.normal(random);
      values[i] =
          switch (kind) {
            case 0 -> normal;
            case 1 -> random.nextInt(50) == 0 ? 100 * normal : normal;
            case 2 -> normal * (float) Math.scalb(1.0, random.nextInt(-140, 100));
            case 3 -> Float.intBitsToFloat(random.nextInt());
            case 4 -> Math.scalb(normal, random.nextInt(-30, -20));
            case 5 -> 1000 + normal;
            default -> i / rowWidth % 2 == 0 ? 0 : Math.scalb(normal, -7 * (i / rowWidth));
          };
    }
    return values;
  }
}
