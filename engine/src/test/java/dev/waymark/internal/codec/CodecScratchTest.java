package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CodecScratchTest {
  private static final int CHUNK_BYTES = ChunkCodecs.MAX_CHUNK_RAW_BYTES;

  @Test
  void nothingIsToBeHadOnceItIsClosed() {
    CodecScratch scratch = new CodecScratch();
    assertThat(scratch.planes()).isNotNull();
    scratch.close();
    scratch.close();
    assertThatThrownBy(scratch::planes).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(scratch::frame).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(scratch::compressor).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> scratch.rowBlock(8)).isInstanceOf(IllegalStateException.class);
  }

  /** What a chunk needs of room is there after the first one, and not made again. */
  @ParameterizedTest
  @EnumSource(Codec.class)
  void manyChunksNeedNoMoreRoomThanOne(Codec codec) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(DType.F32, 128));
    byte[] normals = Samples.bytes(DType.F32, Samples.normals(new SplittableRandom(1), 1 << 18));
    UnsafeBuffer raw = new UnsafeBuffer(ByteBuffer.allocateDirect(CHUNK_BYTES));
    raw.putBytes(0, normals);
    UnsafeBuffer stored = new UnsafeBuffer(ByteBuffer.allocateDirect(CHUNK_BYTES));
    UnsafeBuffer decoded = new UnsafeBuffer(ByteBuffer.allocateDirect(CHUNK_BYTES));
    try (CodecScratch scratch = new CodecScratch()) {
      roundTrip(chunks, scratch, raw, stored, decoded);
      long heap = threads.getCurrentThreadAllocatedBytes();
      long direct = directBytes();
      for (int i = 0; i < 20; i++) {
        roundTrip(chunks, scratch, raw, stored, decoded);
      }
      assertThat(threads.getCurrentThreadAllocatedBytes() - heap).isLessThan(20 * CHUNK_BYTES / 64);
      assertThat(directBytes()).isLessThanOrEqualTo(direct);
    }
  }

  @Test
  void threadsShareCodecs() throws Exception {
    byte[] raw = Samples.bytes(DType.F32, Samples.normals(new SplittableRandom(1), 1 << 15));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      for (Codec codec : Codec.values()) {
        ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(DType.F32, 128));
        byte[] expected = encode(chunks, raw);
        List<Callable<byte[]>> calls = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
          calls.add(() -> encode(chunks, raw));
        }
        for (Future<byte[]> result : threads.invokeAll(calls)) {
          assertThat(result.get()).isEqualTo(expected);
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static void roundTrip(
      ChunkCodec chunks,
      CodecScratch scratch,
      UnsafeBuffer raw,
      UnsafeBuffer stored,
      UnsafeBuffer decoded) {
    int length = chunks.encode(scratch, raw, 0, CHUNK_BYTES, stored, 0);
    UnsafeBuffer source = length < 0 ? raw : stored;
    chunks.decode(scratch, source, 0, length < 0 ? CHUNK_BYTES : length, decoded, 0, CHUNK_BYTES);
  }

  private static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  private static byte[] encode(ChunkCodec chunks, byte[] raw) {
    try (CodecScratch scratch = new CodecScratch()) {
      byte[] stored = Samples.encode(chunks, scratch, raw);
      if (stored != null) {
        Samples.decode(chunks, scratch, stored, raw.length);
      }
      return stored;
    }
  }
}
