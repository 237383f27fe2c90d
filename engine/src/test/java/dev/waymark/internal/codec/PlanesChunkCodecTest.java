package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterProperty;

class PlanesChunkCodecTest {
  private final CodecScratch scratch = new CodecScratch();

  @AfterProperty
  void close() {
    scratch.close();
  }

  @Property(tries = 400)
  void anyBytesComeBack(
      @ForAll DType dtype,
      @ForAll @IntRange(max = 40_000) int length,
      @ForAll @IntRange(max = 4) int kind,
      @ForAll long seed) {
    assertRoundTrip(dtype, fill(kind, length, seed));
  }

  @Example
  void everySmallLengthComesBack() {
    for (DType dtype : DType.values()) {
      for (int length = 0; length < 300; length++) {
        assertRoundTrip(dtype, fill(length % 5, length, length));
      }
    }
  }

  @Example
  void wholeChunksComeBack() {
    for (DType dtype : DType.values()) {
      for (int kind = 0; kind < 5; kind++) {
        assertRoundTrip(dtype, fill(kind, ChunkCodecs.MAX_CHUNK_RAW_BYTES, kind));
      }
    }
  }

  @Example
  void everyHalfComesBack() {
    ByteBuffer all = ByteBuffer.allocate(2 << 16).order(ByteOrder.LITTLE_ENDIAN);
    for (int bits = 0; bits < 1 << 16; bits++) {
      all.putShort((short) bits);
    }
    assertRoundTrip(DType.BF16, all.array());
    assertRoundTrip(DType.F16, all.array());
  }

  @Example
  void noiseAndScrapsAreStoredRaw() {
    SplittableRandom random = new SplittableRandom(1);
    for (DType dtype : DType.values()) {
      ChunkCodec codec = ChunkCodecs.of(Codec.PLANES, Samples.tensor(dtype, 8));
      assertThat(Samples.encode(codec, scratch, Samples.noise(random, 65_536))).isNull();
      assertThat(Samples.encode(codec, scratch, new byte[56])).isNull();
      assertThat(Samples.encode(codec, scratch, new byte[0])).isNull();
      if (dtype.sizeBytes() > 1) {
        assertThat(Samples.encode(codec, scratch, new byte[65])).isNull();
      }
    }
  }

  @Example
  void zerosAreAlmostNothing() {
    for (DType dtype : DType.values()) {
      ChunkCodec codec = ChunkCodecs.of(Codec.PLANES, Samples.tensor(dtype, 8));
      byte[] stored = Samples.encode(codec, scratch, new byte[1 << 20]);
      assertThat(stored).hasSizeLessThan(1000);
    }
  }

  @Example
  void normalsInBf16AreThirtyPercentSmaller() {
    ChunkCodec codec = ChunkCodecs.of(Codec.PLANES, Samples.tensor(DType.BF16, 128));
    byte[] raw = Samples.bytes(DType.BF16, Samples.normals(new SplittableRandom(1), 1 << 19));
    byte[] stored = Samples.encode(codec, scratch, raw);
    assertThat((double) raw.length / stored.length).isBetween(1.49, 1.56);
    // The mantissas are noise, and stand in the chunk as they are.
    assertThat(ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN).getInt()).isEqualTo(1 << 19);
  }

  @Example
  void sameBytesWhateverTheScratchDidBefore() {
    SplittableRandom random = new SplittableRandom(5);
    byte[] raw = Samples.bytes(DType.F32, Samples.normals(random, 3001));
    ChunkCodec codec = ChunkCodecs.of(Codec.PLANES, Samples.tensor(DType.F32, 8));
    byte[] first = Samples.encode(codec, scratch, raw);
    Samples.encode(codec, scratch, fill(2, 1 << 20, 9));
    Samples.encode(ChunkCodecs.of(Codec.PLANES, Samples.tensor(DType.I64, 8)), scratch, raw);
    assertThat(Samples.encode(codec, scratch, raw)).isEqualTo(first);
  }

  private void assertRoundTrip(DType dtype, byte[] raw) {
    ChunkCodec codec = ChunkCodecs.of(Codec.PLANES, Samples.tensor(dtype, 8));
    byte[] stored = Samples.encode(codec, scratch, raw);
    if (stored != null) {
      assertThat(stored.length).isLessThan(raw.length);
      assertThat(Samples.decode(codec, scratch, stored, raw.length)).isEqualTo(raw);
    }
  }

  private static byte[] fill(int kind, int length, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] bytes = new byte[length];
    switch (kind) {
      case 0 -> random.nextBytes(bytes);
      case 1 -> Arrays.fill(bytes, (byte) seed);
      case 2 -> {
        for (int i = 0; i < length; i++) {
          bytes[i] = (byte) (i / 7);
        }
      }
      case 3 -> {
        byte[] normals = Samples.bytes(DType.F32, Samples.normals(random, length / 4 + 1));
        System.arraycopy(normals, 0, bytes, 0, length);
      }
      default -> {
        byte[] normals = Samples.bytes(DType.BF16, Samples.normals(random, length / 2 + 1));
        System.arraycopy(normals, 0, bytes, 0, length);
        Arrays.fill(bytes, length / 2, length / 2 + length / 9, (byte) 0xFF);
      }
    }
    return bytes;
  }
}
