package dev.waymark.internal.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * zstd frames that are put together well enough to be looked at, and lie: about the size of their
 * content above all.
 */
public final class LyingFrames {
  private static final int MAGIC = 0xFD2F_B528;
  private static final int SIZE_OF_8 = 0xE0;
  private static final int RAW_BLOCK = 0;
  private static final int RLE_BLOCK = 1;

  private LyingFrames() {}

  /**
   * Frames by what they lie about.
   *
   * @param lengthBytes what each of them takes, at least 24
   * @param contentBytes what their content should be
   */
  public static Map<String, byte[]> of(int lengthBytes, int contentBytes) {
    Map<String, byte[]> frames = new LinkedHashMap<>();
    long[] sizes = {
      0,
      1,
      contentBytes - 1,
      contentBytes + 1,
      1 << 20,
      Integer.MAX_VALUE,
      0x8000_0000L,
      0xFFFF_FFFFL,
      (1L << 32) + contentBytes,
      1L << 62,
      Long.MIN_VALUE,
      Long.MAX_VALUE,
      -2,
      -1
    };
    for (long size : sizes) {
      frames.put("content of " + size, frame(SIZE_OF_8, size, lengthBytes, RAW_BLOCK, -1));
    }
    // The size is right, and what follows is not.
    frames.put("less content", frame(SIZE_OF_8, contentBytes, lengthBytes, RAW_BLOCK, -1));
    frames.put("more content", frame(SIZE_OF_8, contentBytes, lengthBytes, RLE_BLOCK, 1 << 17));
    frames.put(
        "a block too large", frame(SIZE_OF_8, contentBytes, lengthBytes, RLE_BLOCK, 2097151));
    frames.put("a dictionary", frame(SIZE_OF_8 | 1, contentBytes, lengthBytes, RAW_BLOCK, -1));
    frames.put("the reserved bit", frame(SIZE_OF_8 | 8, contentBytes, lengthBytes, RAW_BLOCK, -1));
    frames.put("a checksum", frame(SIZE_OF_8 | 4, contentBytes, lengthBytes, RAW_BLOCK, -1));
    frames.put("a huge window", frame(0xC0, contentBytes, lengthBytes, RAW_BLOCK, -1));
    byte[] skippable = frame(SIZE_OF_8, contentBytes, lengthBytes, RAW_BLOCK, -1);
    ByteBuffer.wrap(skippable)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(0x184D_2A50)
        .putInt(0xFFFF_FFFF);
    frames.put("a skippable frame without end", skippable);
    frames.put("no magic number", new byte[lengthBytes]);
    return frames;
  }

  /**
   * A header that states eight bytes of size, and one block.
   *
   * @param blockSize what the block's header says; -1 for what is there
   */
  private static byte[] frame(
      int descriptor, long size, int lengthBytes, int blockType, int blockSize) {
    ByteBuffer frame = ByteBuffer.allocate(lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
    frame.putInt(MAGIC).put((byte) descriptor);
    if ((descriptor & 0x20) == 0) {
      frame.put((byte) 0xFF);
    }
    if ((descriptor & 3) == 1) {
      frame.put((byte) 7);
    }
    frame.putLong(size);
    int there = frame.remaining() - 3;
    int header = (blockSize < 0 ? there : blockSize) << 3 | blockType << 1 | 1;
    frame.put((byte) header).put((byte) (header >> 8)).put((byte) (header >> 16));
    return frame.array();
  }
}
