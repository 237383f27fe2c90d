package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import com.sun.management.ThreadMXBean;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterProperty;

/** Whatever the stored bytes are, decoding gives some output or says that they are damaged. */
class MalformedChunkTest {
  private static final int WIDTH = 32;

  private final CodecScratch scratch = new CodecScratch();

  @AfterProperty
  void close() {
    scratch.close();
  }

  @Property(tries = 3000)
  void mutatedChunks(
      @ForAll Codec codec,
      @ForAll @IntRange(max = 3) int type,
      @ForAll @IntRange(min = 1, max = 90) int rows,
      @ForAll @IntRange(min = 1, max = 6) int mutations,
      @ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    DType dtype = new DType[] {DType.F32, DType.BF16, DType.F16, DType.F64}[type];
    if (!ChunkCodecs.applicable(codec, Samples.tensor(dtype, WIDTH))) {
      return;
    }
    ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(dtype, WIDTH));
    int rawLength = rows * WIDTH * dtype.sizeBytes();
    byte[] raw =
        dtype == DType.F64
            ? Samples.bytes(DType.F32, Samples.normals(random, rawLength / 4))
            : Samples.bytes(dtype, Samples.normals(random, rawLength / dtype.sizeBytes()));
    byte[] stored = Samples.encode(chunks, scratch, raw);
    byte[] damaged = stored == null ? raw : stored;
    int declared = rawLength;
    for (int i = 0; i < mutations; i++) {
      switch (random.nextInt(6)) {
        case 0, 1 -> flip(damaged, random, damaged.length);
        // Headers and scales are in front, and so are worth most of the attention.
        case 2 -> flip(damaged, random, 40);
        case 3 -> damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length + 1));
        case 4 -> damaged = Arrays.copyOf(damaged, damaged.length + random.nextInt(40));
        default -> declared = random.nextInt(2 * rawLength);
      }
    }
    assertDecodesOrIsCorrupt(chunks, damaged, declared);
  }

  @Property(tries = 1500)
  void noise(
      @ForAll Codec codec,
      @ForAll @IntRange(max = 600) int storedLength,
      @ForAll @IntRange(max = 2000) int rawLength,
      @ForAll long seed) {
    ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(DType.F32, WIDTH));
    byte[] stored = Samples.noise(new SplittableRandom(seed), storedLength);
    assertDecodesOrIsCorrupt(chunks, stored, rawLength);
  }

  @Example
  void everyTruncationOfAChunkIsNoticed() {
    for (Codec codec : Codec.values()) {
      ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(DType.F32, WIDTH));
      byte[] raw = Samples.bytes(DType.F32, Samples.normals(new SplittableRandom(1), 10 * WIDTH));
      byte[] encoded = Samples.encode(chunks, scratch, raw);
      byte[] stored = encoded == null ? raw : encoded;
      for (int length = 0; length < stored.length; length++) {
        assertCorrupt(chunks, Arrays.copyOf(stored, length), raw.length);
      }
      assertCorrupt(chunks, Arrays.copyOf(stored, stored.length + 1), raw.length);
      assertCorrupt(chunks, stored, raw.length + WIDTH * 4);
      assertCorrupt(chunks, stored, raw.length - WIDTH * 4);
    }
  }

  @Example
  void framesHaveToBeOneAndOfTheRightContent() {
    ChunkCodec chunks = ChunkCodecs.of(Codec.PLANES, Samples.tensor(DType.U8, WIDTH));
    byte[] content = new byte[500];
    Arrays.fill(content, 100, 300, (byte) 7);
    byte[] frame = Zstd.compress(content, 1);
    assertThat(Samples.decode(chunks, scratch, chunk(frame), 500)).isEqualTo(content);

    byte[] empty = Zstd.compress(new byte[0], 1);
    assertCorrupt(chunks, chunk(concat(frame, empty)), 500);
    assertCorrupt(chunks, chunk(concat(empty, frame)), 500);
    byte[] skippable = {0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 1, 1};
    assertCorrupt(chunks, chunk(concat(frame, skippable)), 500);
    assertCorrupt(chunks, chunk(concat(skippable, frame)), 500);
    assertCorrupt(chunks, chunk(Arrays.copyOf(frame, frame.length + 3)), 500);
    assertCorrupt(chunks, chunk(Zstd.compress(Arrays.copyOf(content, 499), 1)), 500);
    assertCorrupt(chunks, chunk(Zstd.compress(Arrays.copyOf(content, 501), 1)), 500);
    assertCorrupt(chunks, chunk(Zstd.compress(new byte[1 << 30 >> 4], 1)), 500);
  }

  @Example
  void framesThatLieAreRefusedBeforeRoomIsMadeForThem() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    ChunkCodec chunks = ChunkCodecs.of(Codec.PLANES, Samples.tensor(DType.U8, WIDTH));
    for (int length : new int[] {24, 60, 200}) {
      LyingFrames.of(length, 500)
          .forEach(
              (lie, frame) -> {
                long before = threads.getCurrentThreadAllocatedBytes();
                assertThatThrownBy(() -> Samples.decode(chunks, scratch, chunk(frame), 500))
                    .as("%s in %s bytes", lie, length)
                    .isInstanceOf(CorruptionException.class);
                assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                    .as(lie)
                    .isLessThan(1 << 20);
              });
    }
  }

  @Example
  void planesHaveToFillTheChunk() {
    ChunkCodec chunks = ChunkCodecs.of(Codec.PLANES, Samples.tensor(DType.F32, WIDTH));
    byte[] raw = Samples.bytes(DType.F32, Samples.normals(new SplittableRandom(1), 10 * WIDTH));
    byte[] stored = Samples.encode(chunks, scratch, raw);
    int planeBytes = 10 * WIDTH;
    int[] lengths = new int[4];
    ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(lengths);
    int[][] lies = {
      {0, lengths[1], lengths[2], lengths[3]},
      {-1, lengths[1], lengths[2], lengths[3]},
      {Integer.MIN_VALUE, lengths[1], lengths[2], lengths[3]},
      {Integer.MAX_VALUE, lengths[1], lengths[2], lengths[3]},
      {planeBytes + 1, lengths[1], lengths[2], lengths[3] - 1},
      {lengths[0] - 1, lengths[1], lengths[2], lengths[3]},
      {lengths[0], lengths[1], lengths[2], lengths[3] + 1},
      {lengths[0], lengths[1], lengths[2], lengths[3] - 1},
      {1 << 30, 1 << 30, 1 << 30, (1 << 30) + stored.length - 16},
      {Integer.MIN_VALUE, Integer.MIN_VALUE, lengths[2], lengths[3]},
    };
    for (int[] lie : lies) {
      byte[] lying = stored.clone();
      ByteBuffer.wrap(lying).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(lie);
      assertCorrupt(chunks, lying, raw.length);
    }
  }

  @Example
  void scalesHaveToBePossible() {
    byte[] raw = Samples.bytes(DType.F32, Samples.normals(new SplittableRandom(1), 4 * WIDTH));
    float[] impossible = {
      Float.NaN, Float.POSITIVE_INFINITY, -1, Float.MIN_VALUE, 1e-36f, 1e38f, Float.MAX_VALUE
    };
    for (Codec codec : new Codec[] {Codec.INT8, Codec.RHT_INT8, Codec.RHT_INT16}) {
      ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(DType.F32, WIDTH));
      byte[] stored = Samples.encode(chunks, scratch, raw);
      for (float scale : impossible) {
        ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN).putFloat(8, scale);
        assertCorrupt(chunks, stored, raw.length);
      }
    }
  }

  @Example
  void rangesOutsideTheBuffersAreRefused() {
    for (Codec codec : Codec.values()) {
      ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(DType.F32, WIDTH));
      Guarded source = Guarded.ofLength(1024);
      Guarded target = Guarded.ofLength(1024);
      int end = source.buffer.capacity();
      for (int[] range : new int[][] {{-1, 128}, {end - 127, 128}, {0, -1}, {end + 1, 0}}) {
        assertThatThrownBy(
                () ->
                    chunks.encode(
                        scratch, source.buffer, range[0], range[1], target.buffer, target.index))
            .isInstanceOf(InvalidArgumentException.class);
        assertThatThrownBy(
                () ->
                    chunks.decode(
                        scratch, source.buffer, range[0], range[1], target.buffer, 0, 128))
            .isInstanceOf(InvalidArgumentException.class);
        assertThatThrownBy(
                () ->
                    chunks.decode(
                        scratch, source.buffer, 0, 128, target.buffer, range[0], range[1]))
            .isInstanceOf(InvalidArgumentException.class);
      }
      int tooLong = chunks.chunkRawBytes() + 1;
      assertThatThrownBy(() -> chunks.encode(scratch, source.buffer, 0, tooLong, target.buffer, 0))
          .isInstanceOf(InvalidArgumentException.class);
      target.assertGuardsUntouched();
    }
  }

  private void assertDecodesOrIsCorrupt(ChunkCodec chunks, byte[] stored, int rawLength) {
    try {
      Samples.decode(chunks, scratch, stored, rawLength);
    } catch (CorruptionException e) {
      assertThat(e).hasMessageStartingWith("CORRUPTION");
    }
  }

  private void assertCorrupt(ChunkCodec chunks, byte[] stored, int rawLength) {
    assertThatThrownBy(() -> Samples.decode(chunks, scratch, stored, rawLength))
        .as("%s, %s stored bytes, %s raw", chunks.codec(), stored.length, rawLength)
        .isInstanceOf(CorruptionException.class);
  }

  private static void flip(byte[] bytes, SplittableRandom random, int within) {
    if (bytes.length > 0) {
      bytes[random.nextInt(Math.min(within, bytes.length))] ^= (byte) (1 + random.nextInt(255));
    }
  }

  /** A stored chunk of one plane. */
  private static byte[] chunk(byte[] frame) {
    byte[] header = new byte[4];
    ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).putInt(frame.length);
    return concat(header, frame);
  }

  private static byte[] concat(byte[] a, byte[] b) {
    byte[] both = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, both, a.length, b.length);
    return both;
  }
}
