package dev.waymark.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class FrameTest {
  private static final int TAG = 0xCAFE;
  private static final int LENGTH = Frame.HEADER_BYTES + 13;

  @Test
  void theHeaderIsLaidOutAsDeclared() {
    UnsafeBuffer buffer = sealed();
    byte[] magic = new byte[4];
    buffer.getBytes(0, magic);
    assertThat(magic).isEqualTo(new byte[] {'W', 'M', 'R', 'K'});
    assertThat(buffer.getInt(4, ByteOrder.LITTLE_ENDIAN)).isEqualTo(LENGTH);
    assertThat(buffer.getInt(12, ByteOrder.LITTLE_ENDIAN)).isEqualTo(TAG);
    assertThat(Frame.blockLength(buffer, 0)).isEqualTo(5);
    assertThat(Frame.templateId(buffer, 0)).isEqualTo(40_000);
  }

  @Test
  void everyFlippedBitIsSeen() {
    UnsafeBuffer buffer = sealed();
    for (int bit = 0; bit < LENGTH * 8; bit++) {
      flip(buffer, bit);
      assertThat(check(buffer, LENGTH).isValid()).as("bit %d", bit).isFalse();
      flip(buffer, bit);
    }
    assertThat(check(buffer, LENGTH).isValid()).isTrue();
  }

  @Test
  void everyTruncationIsTornOrEmpty() {
    UnsafeBuffer buffer = sealed();
    for (int available = 1; available < LENGTH; available++) {
      assertThat(check(buffer, available).status()).isEqualTo(Frame.Status.TORN);
    }
    assertThat(check(buffer, 0).status()).isEqualTo(Frame.Status.EMPTY);
  }

  @Test
  void zerosAreEmpty() {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
    assertThat(check(buffer, 64).status()).isEqualTo(Frame.Status.EMPTY);
    assertThat(check(buffer, 7).status()).isEqualTo(Frame.Status.EMPTY);
  }

  @Test
  void lengthsThatLieAreRefusedBeforeTheyAreFollowed() {
    for (int lie : new int[] {0, 23, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 21}) {
      UnsafeBuffer buffer = sealed();
      buffer.putInt(4, lie, ByteOrder.LITTLE_ENDIAN);
      assertThat(check(buffer, LENGTH).status()).isEqualTo(Frame.Status.DAMAGED);
    }
  }

  @Test
  void aBlockLongerThanItsFrameIsRefusedThoughTheChecksumMatches() {
    UnsafeBuffer buffer = sealed();
    Frame.putMessageHeader(buffer, 0, 14, 40_000);
    Frame.seal(buffer, 0, LENGTH, TAG);
    assertThat(check(buffer, LENGTH).status()).isEqualTo(Frame.Status.DAMAGED);
  }

  @Test
  void anotherFilesFrameIsRefused() {
    assertThat(Frame.check(sealed(), 0, LENGTH, TAG + 1, 1 << 20).status())
        .isEqualTo(Frame.Status.DAMAGED);
  }

  @Test
  void theChecksumIsTheSameInAnyMemory() {
    byte[] bytes = new byte[200_000];
    new Random(7).nextBytes(bytes);
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length + 16);
    direct.position(16);
    UnsafeBuffer slice = new UnsafeBuffer(direct.slice());
    slice.putBytes(0, bytes);
    UnsafeBuffer foreign = new UnsafeBuffer(slice.addressOffset(), bytes.length);
    int expected = Frame.crc32c(new UnsafeBuffer(bytes), 3, bytes.length - 5);
    assertThat(Frame.crc32c(slice, 3, bytes.length - 5)).isEqualTo(expected);
    assertThat(Frame.crc32c(foreign, 3, bytes.length - 5)).isEqualTo(expected);
    assertThat(Frame.crc32c(new UnsafeBuffer(bytes, 1, bytes.length - 1), 2, bytes.length - 5))
        .isEqualTo(expected);
    assertThat(direct.capacity()).isPositive();
  }

  @Test
  void theChecksumIsCrc32c() {
    // The check value of CRC-32C in the catalogues of CRCs.
    assertThat(
            Frame.crc32c(new UnsafeBuffer("123456789".getBytes(StandardCharsets.US_ASCII)), 0, 9))
        .isEqualTo(0xE3069283);
  }

  private static Frame.Check check(MutableDirectBuffer buffer, int available) {
    return Frame.check(buffer, 0, available, TAG, 1 << 20);
  }

  private static UnsafeBuffer sealed() {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[LENGTH]);
    Frame.putMessageHeader(buffer, 0, 5, 40_000);
    buffer.setMemory(Frame.HEADER_BYTES, LENGTH - Frame.HEADER_BYTES, (byte) 0x5A);
    Frame.seal(buffer, 0, LENGTH, TAG);
    return buffer;
  }

  private static void flip(MutableDirectBuffer buffer, int bit) {
    buffer.putByte(bit / 8, (byte) (buffer.getByte(bit / 8) ^ (1 << (bit % 8))));
  }
}
