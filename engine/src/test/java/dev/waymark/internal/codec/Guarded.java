package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/** A direct buffer with guard bytes before and behind the range that a test hands out. */
final class Guarded {
  private static final int GUARD_BYTES = 64;
  private static final byte GUARD = 0x5A;

  final UnsafeBuffer buffer;
  final int index = GUARD_BYTES;
  final int length;

  private Guarded(int length) {
    this.length = length;
    buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(length + 2 * GUARD_BYTES));
    buffer.setMemory(0, buffer.capacity(), GUARD);
  }

  static Guarded ofLength(int length) {
    return new Guarded(length);
  }

  static Guarded of(byte[] bytes) {
    Guarded guarded = new Guarded(bytes.length);
    guarded.buffer.putBytes(GUARD_BYTES, bytes);
    return guarded;
  }

  byte[] bytes() {
    return bytes(length);
  }

  byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    buffer.getBytes(GUARD_BYTES, bytes);
    return bytes;
  }

  void assertGuardsUntouched() {
    assertGuardsUntouchedFrom(length);
  }

  /** Also what lies behind the first {@code used} bytes has to be as it was. */
  void assertGuardsUntouchedFrom(int used) {
    byte[] all = new byte[buffer.capacity()];
    buffer.getBytes(0, all);
    byte[] before = Arrays.copyOfRange(all, 0, GUARD_BYTES);
    byte[] behind = Arrays.copyOfRange(all, GUARD_BYTES + used, all.length);
    assertThat(before).containsOnly(GUARD);
    assertThat(behind).containsOnly(GUARD);
  }
}
