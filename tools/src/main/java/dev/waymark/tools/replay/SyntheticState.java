package dev.waymark.tools.replay;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;

/**
 * The state that a model would have held, made up: a row depends on nothing but its tensor, the key
 * of the block that it belongs to and its place there; fixed state on its tensor and the key of its
 * boundary. So whatever a restore returns can be checked with nothing kept, and bytes of another
 * block, row, head or tensor are told from the right ones.
 *
 * <p>A row of several tokens belongs to the block in which its last token is. Rows of a window
 * follow the same rule as others.
 *
 * <p>Within a tensor, the rows that one block adds at one outer position are one stretch of bytes,
 * with a seed of its own. Filling and checking work on the stretch in place, 8 bytes at a time,
 * straight on the buffer's memory; bounds are checked once a call. Safe for use by many threads.
 */
final class SyntheticState {
  private static final boolean SWAPPED = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

  private final Layout layout;
  private final ElementNoise[] noises;

  SyntheticState(Layout layout) {
    this.layout = layout;
    this.noises =
        layout.tensors().stream()
            .map(spec -> ElementNoise.of(spec.dtype()))
            .toArray(ElementNoise[]::new);
  }

  /**
   * Writes rows {@code [fromRow, toRow)} of a tensor of rows or of a window.
   *
   * @param tensor place of the tensor in the layout
   * @param seeds of the prefix, at least as far as the rows reach
   */
  void fillRows(
      int tensor,
      BlockSeeds seeds,
      long fromRow,
      long toRow,
      MutableDirectBuffer target,
      Strides strides) {
    try {
      rows(tensor, seeds, fromRow, toRow, target, strides, true);
    } finally {
      Reference.reachabilityFence(target);
    }
  }

  /**
   * Checks rows {@code [fromRow, toRow)} of a tensor of rows or of a window.
   *
   * @return -1, or where the first wrong byte stands among the rows' bytes in order, outer position
   *     by outer position, gaps between rows not counted
   */
  long firstMismatch(
      int tensor,
      BlockSeeds seeds,
      long fromRow,
      long toRow,
      DirectBuffer actual,
      Strides strides) {
    try {
      return rows(tensor, seeds, fromRow, toRow, actual, strides, false);
    } finally {
      Reference.reachabilityFence(actual);
    }
  }

  /** Writes the value of a fixed tensor after {@code blocks} blocks of the prefix. */
  void fillFixed(
      int tensor, BlockSeeds seeds, int blocks, MutableDirectBuffer target, int offsetBytes) {
    try {
      fixed(tensor, seeds, blocks, target, offsetBytes, true);
    } finally {
      Reference.reachabilityFence(target);
    }
  }

  /** Checks the value of a fixed tensor: -1, or where in it the first wrong byte stands. */
  long firstMismatchInFixed(
      int tensor, BlockSeeds seeds, int blocks, DirectBuffer actual, int offsetBytes) {
    try {
      return fixed(tensor, seeds, blocks, actual, offsetBytes, false);
    } finally {
      Reference.reachabilityFence(actual);
    }
  }

  /** Whole blocks of so many tokens. */
  int blocksOf(int tokens) {
    return tokens / layout.blockTokens();
  }

  private long rows(
      int tensor,
      BlockSeeds seeds,
      long fromRow,
      long toRow,
      DirectBuffer buffer,
      Strides strides,
      boolean fill) {
    TensorSpec spec = layout.tensors().get(tensor);
    int perRow = tokensPerRow(spec);
    long inner = spec.innerBytes();
    int outers = spec.outer();
    long tokens = Math.multiplyExact((long) seeds.blocks(), (long) layout.blockTokens());
    if (fromRow < 0 || toRow < fromRow || toRow > tokens / perRow) {
      throw outOfRange(spec, "rows within " + tokens + " tokens", fromRow + " to " + toRow);
    }
    long rowCount = toRow - fromRow;
    if (rowCount == 0 || inner == 0 || outers == 0) {
      return -1;
    }
    checkBounds(spec, buffer, strides, rowCount);
    long base = buffer.addressOffset() + strides.offsetBytes();
    boolean dense = strides.rowStrideBytes() == inner;
    int firstBlock = (int) (((fromRow + 1) * perRow - 1) / layout.blockTokens());
    for (int outer = 0; outer < outers; outer++) {
      long salt = salt(tensor, outer);
      long at = base + outer * strides.outerStrideBytes();
      int block = firstBlock;
      long row = fromRow;
      while (row < toRow) {
        long blockFrom = (long) block * layout.blockTokens() / perRow;
        long blockTo = (block + 1L) * layout.blockTokens() / perRow;
        long runTo = Math.min(toRow, blockTo);
        long seed = seeds.seed(block) + salt;
        long runRows = dense ? runTo - row : 1;
        while (row < runTo) {
          long wrong =
              run(
                  noises[tensor],
                  seed,
                  (row - blockFrom) * inner,
                  buffer.byteArray(),
                  at,
                  runRows * inner,
                  fill);
          if (wrong >= 0) {
            return (outer * rowCount + row - fromRow) * inner + wrong;
          }
          row += runRows;
          at += runRows * strides.rowStrideBytes();
        }
        block++;
      }
    }
    return -1;
  }

  private long fixed(
      int tensor,
      BlockSeeds seeds,
      int blocks,
      DirectBuffer buffer,
      int offsetBytes,
      boolean fill) {
    TensorSpec spec = layout.tensors().get(tensor);
    if (!spec.isFixed()) {
      throw outOfRange(spec, "a fixed tensor", "one with a token axis");
    }
    if (blocks < 1 || blocks > seeds.blocks()) {
      throw outOfRange(spec, "1 to " + seeds.blocks() + " blocks", blocks);
    }
    long bytes = spec.bytesOfRows(spec.rowsAfter(0));
    checkRange(spec, buffer, offsetBytes, bytes);
    return run(
        noises[tensor],
        seeds.seed(blocks - 1) + salt(tensor, 0),
        0,
        buffer.byteArray(),
        buffer.addressOffset() + offsetBytes,
        bytes,
        fill);
  }

  private int tokensPerRow(TensorSpec spec) {
    if (spec.isFixed()) {
      throw outOfRange(spec, "a tensor with a token axis", "a fixed one");
    }
    return spec.growth() instanceof Growth.Rows rows ? rows.tokensPerRow() : 1;
  }

  private static long salt(int tensor, int outer) {
    return BlockSeeds.mix(((long) tensor << 32 | outer) + 1);
  }

  /**
   * Writes or checks a piece of a stretch; -1, or the place in the piece of the first wrong byte.
   */
  private static long run(
      ElementNoise noise,
      long seed,
      long stretchByte,
      byte[] base,
      long address,
      long length,
      boolean fill) {
    long done = 0;
    // Up to the next word of the stretch, then whole words, then the rest.
    long head = Math.min(length, -stretchByte & 7);
    if (head > 0) {
      long wrong = bytes(noise, seed, stretchByte, base, address, (int) head, fill);
      if (wrong >= 0) {
        return wrong;
      }
      done = head;
    }
    long words = (length - done) >>> 3;
    if (words > 0) {
      long firstWord = (stretchByte + done) >>> 3;
      long wrong =
          fill
              ? fillWords(noise, seed, firstWord, base, address + done, words)
              : checkWords(noise, seed, firstWord, base, address + done, words);
      if (wrong >= 0) {
        return done + wrong;
      }
      done += words << 3;
    }
    if (done < length) {
      int tail = (int) (length - done);
      long wrong = bytes(noise, seed, stretchByte + done, base, address + done, tail, fill);
      if (wrong >= 0) {
        return done + wrong;
      }
    }
    return -1;
  }

  private static long fillWords(
      ElementNoise noise, long seed, long firstWord, byte[] base, long address, long words) {
    long[] tiles = noise.tiles();
    long signMask = noise.signMask();
    long at = address;
    long word = firstWord;
    long left = words;
    while (left > 0) {
      long hash = BlockSeeds.derive(seed, ElementNoise.groupOf(word));
      long overlay = noise.overlayOf(hash);
      int within = ElementNoise.withinGroup(word);
      int tile = noise.tileOf(hash);
      int count = (int) Math.min(ElementNoise.GROUP_WORDS - within, left);
      for (int i = within; i < within + count; i++) {
        long value = tiles[tile + i] ^ overlay ^ (Long.rotateLeft(hash, i) & signMask);
        UnsafeApi.putLong(base, at, littleEndian(value));
        at += 8;
      }
      word += count;
      left -= count;
    }
    return -1;
  }

  private static long checkWords(
      ElementNoise noise, long seed, long firstWord, byte[] base, long address, long words) {
    long[] tiles = noise.tiles();
    long signMask = noise.signMask();
    long at = address;
    long word = firstWord;
    long left = words;
    while (left > 0) {
      long hash = BlockSeeds.derive(seed, ElementNoise.groupOf(word));
      long overlay = noise.overlayOf(hash);
      int within = ElementNoise.withinGroup(word);
      int tile = noise.tileOf(hash);
      int count = (int) Math.min(ElementNoise.GROUP_WORDS - within, left);
      for (int i = within; i < within + count; i++) {
        long value = tiles[tile + i] ^ overlay ^ (Long.rotateLeft(hash, i) & signMask);
        long difference = value ^ littleEndian(UnsafeApi.getLong(base, at));
        if (difference != 0) {
          return at - address + (Long.numberOfTrailingZeros(difference) >>> 3);
        }
        at += 8;
      }
      word += count;
      left -= count;
    }
    return -1;
  }

  private static long bytes(
      ElementNoise noise,
      long seed,
      long stretchByte,
      byte[] base,
      long address,
      int length,
      boolean fill) {
    long word = noise.word(seed, stretchByte >>> 3);
    for (int i = 0; i < length; i++) {
      byte value = (byte) (word >>> (((stretchByte + i) & 7) << 3));
      if (fill) {
        UnsafeApi.putByte(base, address + i, value);
      } else if (UnsafeApi.getByte(base, address + i) != value) {
        return i;
      }
    }
    return -1;
  }

  private static long littleEndian(long value) {
    return SWAPPED ? Long.reverseBytes(value) : value;
  }

  private static void checkBounds(
      TensorSpec spec, DirectBuffer buffer, Strides strides, long rowCount) {
    if (strides.outerStrideBytes() < 0 || strides.rowStrideBytes() < 0) {
      throw outOfRange(spec, "strides of 0 or more", strides);
    }
    long bytes;
    try {
      bytes =
          Math.addExact(
              Math.multiplyExact(spec.outer() - 1L, strides.outerStrideBytes()),
              Math.addExact(
                  Math.multiplyExact(rowCount - 1, strides.rowStrideBytes()), spec.innerBytes()));
    } catch (ArithmeticException e) {
      bytes = Long.MAX_VALUE;
    }
    checkRange(spec, buffer, strides.offsetBytes(), bytes);
  }

  /** What keeps the raw accesses inside the buffer. */
  private static void checkRange(
      TensorSpec spec, DirectBuffer buffer, int offsetBytes, long bytes) {
    if (offsetBytes < 0 || bytes > (long) buffer.capacity() - offsetBytes) {
      throw outOfRange(
          spec, bytes + " bytes from " + offsetBytes, buffer.capacity() + " bytes in all");
    }
  }

  private static InvalidArgumentException outOfRange(
      TensorSpec spec, Object expected, Object found) {
    return new InvalidArgumentException(
        ErrorDetail.of("state of tensor '" + spec.name() + "' cannot be made or checked")
            .expected(expected)
            .found(found));
  }
}
