package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class CodecScratchTest {
  @Test
  void thePoolLendsTheLastOneGivenBackAndKeepsNoMoreThanItMay() {
    try (CodecScratchPool pool = new CodecScratchPool(1)) {
      CodecScratch a = pool.take();
      CodecScratch b = pool.take();
      assertThat(a).isNotSameAs(b);
      pool.give(a);
      pool.give(b);
      assertThatThrownBy(b::planes).isInstanceOf(IllegalStateException.class);
      assertThat(pool.take()).isSameAs(a);
      assertThat(a.planes()).isNotNull();
    }
  }

  @Test
  void whatIsLentWhenThePoolClosesIsClosedWhenItComesBack() {
    CodecScratchPool pool = new CodecScratchPool(4);
    CodecScratch lent = pool.take();
    CodecScratch idle = pool.take();
    pool.give(idle);
    pool.close();
    pool.close();
    assertThatThrownBy(idle::frame).isInstanceOf(IllegalStateException.class);
    assertThat(lent.frame()).isNotNull();
    pool.give(lent);
    assertThatThrownBy(lent::frame).isInstanceOf(IllegalStateException.class);
    lent.close();
  }

  @Test
  void threadsShareCodecsAndThePool() throws Exception {
    byte[] raw = Samples.bytes(DType.F32, Samples.normals(new SplittableRandom(1), 1 << 15));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (CodecScratchPool pool = new CodecScratchPool(2)) {
      for (Codec codec : Codec.values()) {
        ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(DType.F32, 128));
        byte[] expected = encode(pool, chunks, raw);
        List<Callable<byte[]>> calls = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
          calls.add(() -> encode(pool, chunks, raw));
        }
        for (Future<byte[]> result : threads.invokeAll(calls)) {
          assertThat(result.get()).isEqualTo(expected);
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static byte[] encode(CodecScratchPool pool, ChunkCodec chunks, byte[] raw) {
    CodecScratch scratch = pool.take();
    try {
      byte[] stored = Samples.encode(chunks, scratch, raw);
      if (stored != null) {
        Samples.decode(chunks, scratch, stored, raw.length);
      }
      return stored;
    } finally {
      pool.give(scratch);
    }
  }
}
