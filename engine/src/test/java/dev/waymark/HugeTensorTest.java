package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** More than 2 GiB in one tensor, more than 4 GiB in one memory; nothing of it on the heap. */
class HugeTensorTest {
  private static final long LENGTH = (1L << 31) + 1;
  private static final long OFFSET = (4L << 30) + 5;
  private static final int PIECE = 1 << 30;
  private static final int STAMPS = 1 << 20;

  @TempDir Path dir;

  /** A sparse file, mapped in pieces of 1 GiB. */
  private List<ByteBuffer> map(String name, MapMode mode) throws IOException {
    List<ByteBuffer> pieces = new ArrayList<>();
    try (FileChannel channel =
        FileChannel.open(
            dir.resolve(name),
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.CREATE)) {
      long end = OFFSET + LENGTH;
      channel.write(ByteBuffer.allocate(1), end);
      if (mode == MapMode.READ_ONLY) {
        stamp(channel);
      }
      for (long at = 0; at < end; at += PIECE) {
        pieces.add(channel.map(mode, at, Math.min(PIECE, end - at)));
      }
    }
    return pieces;
  }

  /** A number in every MiB, at another place in each, and one in the last bytes. */
  private static void stamp(FileChannel channel) throws IOException {
    ByteBuffer number = ByteBuffer.allocate(8);
    for (long at = 0; at < LENGTH; at += STAMPS) {
      long where = Math.min(at + (FakeModel.mix(at) & 0xFFFF), LENGTH - 8);
      channel.write(number.putLong(0, at ^ 0x5555_5555L).rewind(), OFFSET + where);
    }
    channel.write(number.putLong(0, -2).rewind(), OFFSET + LENGTH - 8);
  }

  @Test
  void oneByteMoreThanTwoGibibytesRoundTrip() throws IOException {
    TensorSpec spec = TensorSpec.fixed("state", DType.U8, LENGTH);
    Layout layout = Layout.of(4, spec);
    int[] prompt = IntStream.range(0, 5).toArray();
    List<ByteBuffer> source = map("source", MapMode.READ_ONLY);
    List<ByteBuffer> target = map("target", MapMode.READ_WRITE);
    long direct = directBytes();
    StoreOptions options = StoreOptions.builder().quota("16GiB").restoreThreads(2).build();
    try (SnapshotStore store = SnapshotStore.open(dir.resolve("store"), options)) {
      Namespace ns = store.namespace(TestStore.identity("w"), layout);
      try (PrefillSession session = ns.prefill(ns.match(prompt), PrefillPlan.tokens(5))) {
        AppendReceipt receipt =
            session.append(
                new int[] {0, 1, 2, 3},
                StateViews.builder()
                    .put(spec, TensorView.value(spec, Memory.of(source), OFFSET))
                    .build());
        assertThat(receipt.appendedBytes()).isEqualTo(LENGTH);
        assertThat(receipt.pointAdded()).isTrue();
        session.promptComplete();
      }
      assertThat(store.stats().segments()).isGreaterThan(8);
      try (RestoredState state = ns.match(Prompt.ofTokens(prompt), 4).restore()) {
        state.read(spec, TensorView.value(spec, Memory.of(target), OFFSET));
        assertThat(state.finish().rawBytes()).isEqualTo(LENGTH);
      }
      assertThat(directBytes() - direct).isLessThan(256L << 20);
      ForestChecker.check(store);
    }
    for (int i = (int) (OFFSET / PIECE); i < source.size(); i++) {
      assertThat(source.get(i).mismatch(target.get(i))).as("piece " + i).isEqualTo(-1);
    }
    for (String name : List.of("source", "target")) {
      Files.delete(dir.resolve(name));
    }
  }

  private static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }
}
