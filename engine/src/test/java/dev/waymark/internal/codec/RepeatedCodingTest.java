package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.TensorSpec;
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

/**
 * What becomes of decoded values that are encoded again, as an archive's are. {@code BF16} gives
 * them back to the byte; so does {@code INT8}, whose largest value is 127 steps again: {@code (max
 * / 127) * 127} is {@code max} in f32. The transforming codecs find that largest value only after
 * the rounding of their decoded values.
 */
class RepeatedCodingTest {
  private final CodecScratch scratch = new CodecScratch();

  @AfterProperty
  void close() {
    scratch.close();
  }

  @Provide
  Arbitrary<Codec> exact() {
    return Arbitraries.of(Codec.BF16, Codec.INT8);
  }

  @Provide
  Arbitrary<DType> floats() {
    return Arbitraries.of(DType.F32, DType.BF16, DType.F16);
  }

  @Property(tries = 3000)
  void whatWasDecodedComesBackToTheByte(
      @ForAll("exact") Codec codec,
      @ForAll("floats") DType dtype,
      @ForAll @IntRange(min = 1, max = 700) int width,
      @ForAll @IntRange(min = 1, max = 40) int rows,
      @ForAll @IntRange(max = 5) int kind,
      @ForAll long seed) {
    TensorSpec tensor = Samples.tensor(dtype, width);
    if (!ChunkCodecs.applicable(codec, tensor)) {
      return;
    }
    ChunkCodec chunks = ChunkCodecs.of(codec, tensor);
    byte[] once = coded(chunks, Samples.bytes(dtype, fill(kind, rows, width, seed)));

    assertThat(coded(chunks, once)).isEqualTo(once);
  }

  /** Eight times over, so that what drifts is seen to. */
  @Example
  void theTransformingOnesStayWithinARoundingOfTheType() {
    for (int width = 2; width <= 4096; width *= 2) {
      assertRepeats(Codec.RHT_INT8, DType.F32, width, 0x1p-19);
      assertRepeats(Codec.RHT_INT16, DType.F32, width, 0x1p-19);
      assertRepeats(Codec.RHT_INT8, DType.BF16, width, 2 * 0x1p-8);
      assertRepeats(Codec.RHT_INT8, DType.F16, width, 2 * 0x1p-11);
    }
  }

  private void assertRepeats(Codec codec, DType dtype, int width, double bound) {
    TensorSpec tensor = Samples.tensor(dtype, width);
    if (!ChunkCodecs.applicable(codec, tensor)) {
      return;
    }
    ChunkCodec chunks = ChunkCodecs.of(codec, tensor);
    int rows = Math.max(1, 4096 / width);
    for (int seed = 0; seed < 24; seed++) {
      // Of the last kinds only what is not near the least values of f16.
      byte[] once = coded(chunks, Samples.bytes(dtype, fill(seed % 3, rows, width, seed)));
      byte[] again = once;
      for (int pass = 1; pass <= 8; pass++) {
        again = coded(chunks, again);
        assertThat(relativeL2(codec, tensor, once, again))
            .as("%s of %s, width %s, seed %s, pass %s", codec, dtype, width, seed, pass)
            .isLessThanOrEqualTo(pass == 1 ? bound / 2 : bound);
      }
    }
  }

  private double relativeL2(Codec codec, TensorSpec tensor, byte[] once, byte[] again) {
    return LossyCheck.measure(
            scratch,
            codec,
            tensor,
            new UnsafeBuffer(once),
            0,
            new UnsafeBuffer(again),
            0,
            once.length)
        .relativeL2();
  }

  private byte[] coded(ChunkCodec chunks, byte[] raw) {
    byte[] stored = Samples.encode(chunks, scratch, raw);
    return stored == null ? raw : Samples.decode(chunks, scratch, stored, raw.length);
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
            case 2 -> 10 + normal;
            case 3 -> normal * (float) Math.scalb(1.0, random.nextInt(-140, 100));
            case 4 -> Math.scalb(normal, -7 * (i / rowWidth));
            default -> Float.intBitsToFloat(random.nextInt());
          };
    }
    return values;
  }
}
