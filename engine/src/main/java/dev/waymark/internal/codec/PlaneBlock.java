package dev.waymark.internal.codec;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Takes a block of elements apart into byte planes and puts it together again. Plane {@code k}
 * holds byte {@code k}, from the least significant, of each element in order.
 *
 * <p>Works by lanes of 16 bits, each of two planes, since the compiler vectorises loops over one
 * width only. For the step between bytes and 16 bits the JDK has vector code everywhere: ISO
 * 8859-1, whose decoding widens bytes with zeros and whose encoding narrows characters below 256.
 * That is some three times as fast as arithmetic on 64-bit words.
 */
final class PlaneBlock {
  /** Bytes of elements in a block: few enough for all arrays to stay in a core's first cache. */
  static final int BLOCK_BYTES = 8192;

  private static final int LOW_BYTE = 0xFF;

  private final char[] lane = new char[BLOCK_BYTES / Character.BYTES];
  private final int[] ints = new int[BLOCK_BYTES / Integer.BYTES];
  private final long[] longs = new long[BLOCK_BYTES / Long.BYTES];

  private final char[] wide = new char[lane.length];
  private final char[] wideHigh = new char[lane.length];
  private final byte[] plane = new byte[lane.length];
  private final CharBuffer wideChars = CharBuffer.wrap(wide);
  private final CharBuffer wideHighChars = CharBuffer.wrap(wideHigh);
  private final ByteBuffer planeBytes = ByteBuffer.wrap(plane);
  private final CharsetDecoder widener = StandardCharsets.ISO_8859_1.newDecoder();
  private final CharsetEncoder narrower = StandardCharsets.ISO_8859_1.newEncoder();

  /**
   * Elements of 2, 4 or 8 bytes to planes.
   *
   * @param rotated whether each element is first turned left by one bit. Floats have their sign in
   *     the top bit: turned, the top byte of a bf16 or f32 is its exponent, whole, and the sign
   *     joins the mantissa, noise to noise
   * @param targetStride from the start of one plane to that of the next, in the target
   */
  void split(
      int elementBytes,
      boolean rotated,
      DirectBuffer source,
      int sourceIndex,
      int count,
      MutableDirectBuffer target,
      int targetIndex,
      int targetStride) {
    switch (elementBytes) {
      case Character.BYTES -> {
        Memory.load(source, sourceIndex, elementBytes * count, lane);
        if (rotated) {
          rotateLeft(lane, count);
        }
      }
      case Integer.BYTES -> {
        Memory.load(source, sourceIndex, elementBytes * count, ints);
        if (rotated) {
          rotateLeft(ints, count);
        }
      }
      default -> {
        Memory.load(source, sourceIndex, elementBytes * count, longs);
        if (rotated) {
          rotateLeft(longs, count);
        }
      }
    }
    for (int k = 0; k < elementBytes; k += 2) {
      if (elementBytes == Integer.BYTES) {
        take(ints, lane, 8 * k, count);
      } else if (elementBytes == Long.BYTES) {
        take(longs, lane, 8 * k, count);
      }
      int index = targetIndex + k * targetStride;
      lowBytes(lane, wide, count);
      narrow(count);
      Memory.store(plane, target, index, count);
      highBytes(lane, wide, count);
      narrow(count);
      Memory.store(plane, target, index + targetStride, count);
    }
  }

  /** Gives planes to {@link #join}, two by two. */
  void lane(
      int k,
      int elementBytes,
      DirectBuffer low,
      int lowIndex,
      DirectBuffer high,
      int highIndex,
      int count) {
    Memory.load(low, lowIndex, count, plane);
    widen(wideChars, count);
    Memory.load(high, highIndex, count, plane);
    widen(wideHighChars, count);
    combine(wide, wideHigh, lane, count);
    if (elementBytes == Integer.BYTES) {
      put(lane, ints, 8 * k, count);
    } else if (elementBytes == Long.BYTES) {
      put(lane, longs, 8 * k, count);
    }
  }

  /** Undoes {@link #split}, once all lanes were given, from the least significant. */
  void join(
      int elementBytes, boolean rotated, int count, MutableDirectBuffer target, int targetIndex) {
    switch (elementBytes) {
      case Character.BYTES -> {
        if (rotated) {
          rotateRight(lane, count);
        }
        Memory.store(lane, target, targetIndex, elementBytes * count);
      }
      case Integer.BYTES -> {
        if (rotated) {
          rotateRight(ints, count);
        }
        Memory.store(ints, target, targetIndex, elementBytes * count);
      }
      default -> {
        if (rotated) {
          rotateRight(longs, count);
        }
        Memory.store(longs, target, targetIndex, elementBytes * count);
      }
    }
  }

  /** The first characters of {@link #wide}, all below 256, to {@link #plane}. */
  private void narrow(int count) {
    narrower.encode(wideChars.position(0).limit(count), planeBytes.position(0).limit(count), true);
  }

  /** The first bytes of {@link #plane} to characters. */
  private void widen(CharBuffer chars, int count) {
    widener.decode(planeBytes.position(0).limit(count), chars.position(0).limit(count), true);
  }

  private static void lowBytes(char[] source, char[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = (char) (source[i] & LOW_BYTE);
    }
  }

  private static void highBytes(char[] source, char[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = (char) (source[i] >>> 8);
    }
  }

  private static void combine(char[] low, char[] high, char[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = (char) (low[i] | (high[i] << 8));
    }
  }

  private static void take(int[] source, char[] target, int shift, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = (char) (source[i] >>> shift);
    }
  }

  private static void take(long[] source, char[] target, int shift, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = (char) (source[i] >>> shift);
    }
  }

  /** The first lane, of shift 0, replaces what was there. */
  private static void put(char[] source, int[] target, int shift, int count) {
    if (shift == 0) {
      for (int i = 0; i < count; i++) {
        target[i] = source[i];
      }
    } else {
      for (int i = 0; i < count; i++) {
        target[i] |= source[i] << shift;
      }
    }
  }

  private static void put(char[] source, long[] target, int shift, int count) {
    if (shift == 0) {
      for (int i = 0; i < count; i++) {
        target[i] = source[i];
      }
    } else {
      for (int i = 0; i < count; i++) {
        target[i] |= (long) source[i] << shift;
      }
    }
  }

  private static void rotateLeft(char[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = (char) ((values[i] << 1) | (values[i] >>> 15));
    }
  }

  private static void rotateLeft(int[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = (values[i] << 1) | (values[i] >>> 31);
    }
  }

  private static void rotateLeft(long[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = (values[i] << 1) | (values[i] >>> 63);
    }
  }

  private static void rotateRight(char[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = (char) ((values[i] >>> 1) | (values[i] << 15));
    }
  }

  private static void rotateRight(int[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = (values[i] >>> 1) | (values[i] << 31);
    }
  }

  private static void rotateRight(long[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = (values[i] >>> 1) | (values[i] << 63);
    }
  }
}
