package dev.waymark.internal.io;

import java.nio.ByteBuffer;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;

/** Buffers of every kind that a file may be handed. */
final class Bytes {
  private Bytes() {}

  static UnsafeBuffer heap(int length) {
    return new UnsafeBuffer(new byte[length]);
  }

  static UnsafeBuffer direct(int length) {
    return new UnsafeBuffer(ByteBuffer.allocateDirect(length));
  }

  static UnsafeBuffer random(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return new UnsafeBuffer(bytes);
  }

  /** Memory that only an address leads to; the owner has to stay reachable. */
  static UnsafeBuffer foreign(UnsafeBuffer owner) {
    return new UnsafeBuffer(owner.addressOffset(), owner.capacity());
  }
}
