package dev.waymark.internal.codec;

import java.nio.ByteOrder;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;

/**
 * Bulk copies between buffers and primitive arrays, so that the loops run over arrays: those the
 * compiler vectorises and checks. The bytes of a buffer are little-endian, as the machine's have to
 * be.
 */
final class Memory {
  private static final long BYTES = UnsafeApi.arrayBaseOffset(byte[].class);
  private static final long CHARS = UnsafeApi.arrayBaseOffset(char[].class);
  private static final long SHORTS = UnsafeApi.arrayBaseOffset(short[].class);
  private static final long INTS = UnsafeApi.arrayBaseOffset(int[].class);
  private static final long LONGS = UnsafeApi.arrayBaseOffset(long[].class);
  private static final long FLOATS = UnsafeApi.arrayBaseOffset(float[].class);

  static {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new UnsupportedOperationException("codecs need a little-endian machine");
    }
  }

  private Memory() {}

  /** Copies bytes into the start of an array. */
  static void load(DirectBuffer source, int index, int lengthBytes, long[] target) {
    copyIn(source, index, lengthBytes, target, LONGS, target.length * 8L);
  }

  /** Copies bytes into the start of an array. */
  static void load(DirectBuffer source, int index, int lengthBytes, float[] target) {
    copyIn(source, index, lengthBytes, target, FLOATS, target.length * 4L);
  }

  /** Copies bytes into the start of an array. */
  static void load(DirectBuffer source, int index, int lengthBytes, int[] target) {
    copyIn(source, index, lengthBytes, target, INTS, target.length * 4L);
  }

  /** Copies bytes into the start of an array. */
  static void load(DirectBuffer source, int index, int lengthBytes, char[] target) {
    copyIn(source, index, lengthBytes, target, CHARS, target.length * 2L);
  }

  /** Copies bytes into the start of an array. */
  static void load(DirectBuffer source, int index, int lengthBytes, short[] target) {
    copyIn(source, index, lengthBytes, target, SHORTS, target.length * 2L);
  }

  /** Copies bytes into the start of an array. */
  static void load(DirectBuffer source, int index, int lengthBytes, byte[] target) {
    copyIn(source, index, lengthBytes, target, BYTES, target.length);
  }

  /** Copies bytes from the start of an array. */
  static void store(long[] source, MutableDirectBuffer target, int index, int lengthBytes) {
    copyOut(source, LONGS, source.length * 8L, target, index, lengthBytes);
  }

  /** Copies bytes from the start of an array. */
  static void store(float[] source, MutableDirectBuffer target, int index, int lengthBytes) {
    copyOut(source, FLOATS, source.length * 4L, target, index, lengthBytes);
  }

  /** Copies bytes from the start of an array. */
  static void store(int[] source, MutableDirectBuffer target, int index, int lengthBytes) {
    copyOut(source, INTS, source.length * 4L, target, index, lengthBytes);
  }

  /** Copies bytes from the start of an array. */
  static void store(char[] source, MutableDirectBuffer target, int index, int lengthBytes) {
    copyOut(source, CHARS, source.length * 2L, target, index, lengthBytes);
  }

  /** Copies bytes from the start of an array. */
  static void store(short[] source, MutableDirectBuffer target, int index, int lengthBytes) {
    copyOut(source, SHORTS, source.length * 2L, target, index, lengthBytes);
  }

  /** Copies bytes from the start of an array. */
  static void store(byte[] source, MutableDirectBuffer target, int index, int lengthBytes) {
    copyOut(source, BYTES, source.length, target, index, lengthBytes);
  }

  /** Gives the bits of the first {@code count} floats, four bytes each, as they are. */
  static void bits(float[] source, int[] target, int count) {
    Objects.checkFromIndexSize(0, count, source.length);
    Objects.checkFromIndexSize(0, count, target.length);
    UnsafeApi.copyMemory(source, FLOATS, target, INTS, 4L * count);
  }

  /** Gives the floats of the first {@code count} bit patterns. */
  static void floats(int[] source, float[] target, int count) {
    Objects.checkFromIndexSize(0, count, source.length);
    Objects.checkFromIndexSize(0, count, target.length);
    UnsafeApi.copyMemory(source, INTS, target, FLOATS, 4L * count);
  }

  private static void copyIn(
      DirectBuffer source, int index, int lengthBytes, Object array, long base, long roomBytes) {
    Objects.checkFromIndexSize(index, lengthBytes, source.capacity());
    Objects.checkFromIndexSize(0L, lengthBytes, roomBytes);
    UnsafeApi.copyMemory(
        source.byteArray(), source.addressOffset() + index, array, base, lengthBytes);
  }

  private static void copyOut(
      Object array,
      long base,
      long roomBytes,
      MutableDirectBuffer target,
      int index,
      int lengthBytes) {
    Objects.checkFromIndexSize(0L, lengthBytes, roomBytes);
    Objects.checkFromIndexSize(index, lengthBytes, target.capacity());
    UnsafeApi.copyMemory(
        array, base, target.byteArray(), target.addressOffset() + index, lengthBytes);
  }
}
