package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class TransfersTest {
  @Test
  void loopsOverShortWrites() throws IOException {
    byte[] source = Bytes.random(10_000, 5).byteArray();
    byte[] device = new byte[20_000];
    int[] calls = {0};
    Transfers.Call shortWrite =
        (bytes, offset) -> {
          int step = Math.min(bytes.remaining(), calls[0]++ % 7);
          bytes.get(device, (int) offset, step);
          return step;
        };

    int moved = Transfers.all(shortWrite, ByteBuffer.wrap(source, 100, 9_000), 33);

    assertThat(moved).isEqualTo(9_000);
    assertThat(Arrays.copyOfRange(device, 33, 9_033))
        .isEqualTo(Arrays.copyOfRange(source, 100, 9_100));
    assertThat(device[32]).isZero();
    assertThat(device[9_033]).isZero();
  }

  @Test
  void saysWhereTheFileEnded() throws IOException {
    int[] left = {25};
    Transfers.Call read =
        (bytes, offset) -> {
          int step = Math.min(left[0], 10);
          left[0] -= step;
          bytes.position(bytes.position() + step);
          return step == 0 ? -1 : step;
        };
    assertThat(Transfers.all(read, ByteBuffer.allocateDirect(100), 0)).isEqualTo(25);
  }

  @Test
  void givesUpOnADeviceThatTakesNothing() {
    assertThatThrownBy(() -> Transfers.all((bytes, offset) -> 0, ByteBuffer.allocate(1), 0))
        .isInstanceOf(IOException.class);
  }

  @Test
  void takesTheHeapInSteps() throws IOException {
    int[] largest = {0};
    Transfers.Call call =
        (bytes, offset) -> {
          int step = bytes.remaining();
          largest[0] = Math.max(largest[0], step);
          bytes.position(bytes.limit());
          return step;
        };
    assertThat(Transfers.all(call, ByteBuffer.allocate(5 << 20), 0)).isEqualTo(5 << 20);
    assertThat(largest[0]).isEqualTo(Transfers.HEAP_STEP_BYTES);
  }
}
