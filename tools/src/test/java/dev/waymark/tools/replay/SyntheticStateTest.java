package dev.waymark.tools.replay;

import static dev.waymark.layout.TensorSpec.TOKEN_AXIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SyntheticStateTest {
  private static final int BLOCK = 16;
  private static final int BLOCKS = 9;
  private static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.rows("keys", DType.BF16, 1, 3, TOKEN_AXIS, 1),
          TensorSpec.rows("values", DType.BF16, 1, 3, TOKEN_AXIS, 1),
          TensorSpec.rows("odd", DType.U8, 1, 2, TOKEN_AXIS, 13),
          TensorSpec.window("window", DType.F32, 40, 4, 2, TOKEN_AXIS, 5),
          TensorSpec.rows("pool4", DType.BF16, 4, 2, TOKEN_AXIS, 8),
          TensorSpec.rows("pool24", DType.BF16, 24, TOKEN_AXIS, 8),
          TensorSpec.fixed("state", DType.F32, 3, 7, 9),
          TensorSpec.fixed("empty", DType.F32, 0));

  private final SyntheticState state = new SyntheticState(LAYOUT);
  private final BlockSeeds seeds = BlockSeeds.of(keys(1, BLOCKS));

  private static List<BoundaryKey> keys(long seed, int count) {
    Random random = new Random(seed);
    List<BoundaryKey> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      keys.add(
          new BoundaryKey(
              random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong()));
    }
    return keys;
  }

  private static long rowsOf(TensorSpec spec) {
    return spec.rowsAfter((long) BLOCK * BLOCKS);
  }

  private UnsafeBuffer filled(int tensor) {
    TensorSpec spec = LAYOUT.tensors().get(tensor);
    long rows = rowsOf(spec);
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[(int) spec.bytesOfRows(rows)]);
    state.fillRows(tensor, seeds, 0, rows, buffer, Strides.packed(spec, 0, rows));
    return buffer;
  }

  private long check(int tensor, UnsafeBuffer buffer) {
    TensorSpec spec = LAYOUT.tensors().get(tensor);
    long rows = rowsOf(spec);
    return state.firstMismatch(tensor, seeds, 0, rows, buffer, Strides.packed(spec, 0, rows));
  }

  @Test
  void everyChangedByteIsFoundWhereItIs() {
    for (int tensor = 0; tensor < 6; tensor++) {
      UnsafeBuffer buffer = filled(tensor);
      assertThat(check(tensor, buffer)).isEqualTo(-1);
      for (int i = 0; i < buffer.capacity(); i++) {
        buffer.putByte(i, (byte) (buffer.getByte(i) ^ 1));
        assertThat(check(tensor, buffer)).as("tensor %d", tensor).isEqualTo(i);
        buffer.putByte(i, (byte) (buffer.getByte(i) ^ 1));
      }
    }
  }

  @Test
  void anyRangeAndAnyStridesHoldTheSameRows() {
    Random random = new Random(5);
    for (int round = 0; round < 2_000; round++) {
      int tensor = random.nextInt(6);
      TensorSpec spec = LAYOUT.tensors().get(tensor);
      int inner = (int) spec.innerBytes();
      int all = (int) rowsOf(spec);
      int from = random.nextInt(all + 1);
      int to = from + random.nextInt(all - from + 1);
      boolean dense = random.nextBoolean();
      int rowStride = dense ? inner : inner + random.nextInt(9);
      int outerStride = (to - from) * rowStride + random.nextInt(9);
      int offset = random.nextInt(9);
      int capacity = offset + outerStride * spec.outer() + inner;
      UnsafeBuffer buffer =
          random.nextBoolean()
              ? new UnsafeBuffer(ByteBuffer.allocateDirect(capacity))
              : new UnsafeBuffer(new byte[capacity + 3], 3, capacity);
      Strides strides = new Strides(offset, outerStride, rowStride);
      state.fillRows(tensor, seeds, from, to, buffer, strides);
      assertThat(state.firstMismatch(tensor, seeds, from, to, buffer, strides)).isEqualTo(-1);
      UnsafeBuffer whole = filled(tensor);
      byte[] expected = new byte[inner];
      byte[] actual = new byte[inner];
      for (int outer = 0; outer < spec.outer(); outer++) {
        for (int row = from; row < to; row++) {
          whole.getBytes((outer * all + row) * inner, expected);
          buffer.getBytes(offset + outer * outerStride + (row - from) * rowStride, actual);
          assertThat(actual).isEqualTo(expected);
        }
      }
      if (to > from) {
        int outer = random.nextInt(spec.outer());
        int row = random.nextInt(to - from);
        int within = random.nextInt(inner);
        int at = offset + outer * outerStride + row * rowStride + within;
        buffer.putByte(at, (byte) ~buffer.getByte(at));
        assertThat(state.firstMismatch(tensor, seeds, from, to, buffer, strides))
            .isEqualTo((outer * (to - from) + row) * inner + within);
      }
    }
  }

  @Test
  void nothingOutsideTheRowsIsWritten() {
    TensorSpec spec = LAYOUT.tensors().get(2);
    byte[] bytes = new byte[1_000];
    Arrays.fill(bytes, (byte) 0x55);
    state.fillRows(2, seeds, 15, 18, new UnsafeBuffer(bytes), new Strides(100, 300, 20));
    for (int i = 0; i < bytes.length; i++) {
      int inOuter = i < 400 ? i - 100 : i - 400;
      boolean row = inOuter >= 0 && inOuter < 60 && inOuter % 20 < spec.innerBytes();
      if (!row) {
        assertThat(bytes[i]).as("byte %d", i).isEqualTo((byte) 0x55);
      }
    }
  }

  @Test
  void swappedRowsAreFound() {
    // Rows of one element of 2 bytes, the hardest: any two of a block and head.
    UnsafeBuffer keys = filled(0);
    for (int row = 0; row < BLOCK; row++) {
      for (int other = row + 1; other < BLOCK; other++) {
        assertThat(keys.getShort(2 * row)).isNotEqualTo(keys.getShort(2 * other));
        swap(keys, 2 * row, 2 * other, 2);
        assertThat(check(0, keys)).isBetween(2L * row, 2L * row + 1);
        swap(keys, 2 * row, 2 * other, 2);
      }
    }
  }

  @Test
  void rowsShiftedByOneAreFound() {
    for (int tensor = 0; tensor < 6; tensor++) {
      int inner = (int) LAYOUT.tensors().get(tensor).innerBytes();
      UnsafeBuffer buffer = filled(tensor);
      UnsafeBuffer shifted = new UnsafeBuffer(new byte[buffer.capacity()]);
      shifted.putBytes(0, buffer, inner, buffer.capacity() - inner);
      assertThat(check(tensor, shifted)).isBetween(0L, inner - 1L);
    }
  }

  @Test
  void swappedHeadsBlocksAndTensorsAreFound() {
    int blockBytes = 2 * BLOCK;
    int headBytes = blockBytes * BLOCKS;
    UnsafeBuffer keys = filled(0);
    for (int a = 0; a < 3 * BLOCKS; a++) {
      for (int b = a + 1; b < 3 * BLOCKS; b++) {
        // Blocks of the same head, the same block of two heads, and any two others.
        swap(keys, a * blockBytes, b * blockBytes, blockBytes);
        assertThat(check(0, keys)).isBetween((long) a * blockBytes, (a + 1L) * blockBytes - 1);
        swap(keys, a * blockBytes, b * blockBytes, blockBytes);
      }
    }
    swap(keys, 0, headBytes, headBytes);
    assertThat(check(0, keys)).isNotNegative();
    assertThat(check(1, filled(0))).isNotNegative();
    assertThat(check(0, filled(1))).isNotNegative();
    assertThat(check(0, filled(0))).isEqualTo(-1);
  }

  @Test
  void blocksOfAnotherChainAreFound() {
    List<BoundaryKey> chain = new ArrayList<>(keys(1, BLOCKS));
    chain.set(4, keys(2, 1).get(0));
    BlockSeeds other = BlockSeeds.of(chain);
    TensorSpec spec = LAYOUT.tensors().get(0);
    long rows = rowsOf(spec);
    long found = state.firstMismatch(0, other, 0, rows, filled(0), Strides.packed(spec, 0, rows));
    assertThat(found / (2 * BLOCK)).isEqualTo(4);
    // One word of four is enough to make a key another.
    BoundaryKey key = chain.get(0);
    for (BoundaryKey near :
        List.of(
            new BoundaryKey(key.word0() ^ 1, key.word1(), key.word2(), key.word3()),
            new BoundaryKey(key.word0(), key.word1() ^ 1, key.word2(), key.word3()),
            new BoundaryKey(key.word0(), key.word1(), key.word2() ^ 1, key.word3()),
            new BoundaryKey(key.word0(), key.word1(), key.word2(), key.word3() ^ 1))) {
      assertThat(
              state.firstMismatch(
                  0, BlockSeeds.of(List.of(near)), 0, 1, filled(0), Strides.packed(spec, 0, rows)))
          .isNotNegative();
    }
  }

  @Test
  void aPooledRowBelongsToTheBlockOfItsLastToken() {
    // Rows of 24 tokens, blocks of 16: row 1 is tokens 24 to 47, and ends in block 2.
    TensorSpec spec = LAYOUT.tensors().get(5);
    UnsafeBuffer buffer = filled(5);
    int inner = (int) spec.innerBytes();
    for (int changed = 0; changed < BLOCKS; changed++) {
      List<BoundaryKey> chain = new ArrayList<>(keys(1, BLOCKS));
      chain.set(changed, keys(3, 1).get(0));
      long found =
          state.firstMismatch(5, BlockSeeds.of(chain), 0, 6, buffer, Strides.packed(spec, 0, 6));
      int row = -1;
      for (int r = 0; r < 6; r++) {
        if ((24 * (r + 1) - 1) / BLOCK == changed) {
          row = r;
        }
      }
      assertThat(found < 0 ? -1 : found / inner).as("block %d", changed).isEqualTo(row);
    }
  }

  @Test
  void fixedStateBelongsToItsBoundary() {
    TensorSpec spec = LAYOUT.tensors().get(6);
    int bytes = (int) spec.bytesOfRows(spec.rowsAfter(0));
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[bytes + 5]);
    state.fillFixed(6, seeds, 3, buffer, 5);
    assertThat(state.firstMismatchInFixed(6, seeds, 3, buffer, 5)).isEqualTo(-1);
    assertThat(state.firstMismatchInFixed(6, seeds, 4, buffer, 5)).isBetween(0L, 7L);
    for (int i = 0; i < bytes; i++) {
      buffer.putByte(5 + i, (byte) ~buffer.getByte(5 + i));
      assertThat(state.firstMismatchInFixed(6, seeds, 3, buffer, 5)).isEqualTo(i);
      buffer.putByte(5 + i, (byte) ~buffer.getByte(5 + i));
    }
    state.fillFixed(7, seeds, 3, buffer, 0);
    assertThat(state.firstMismatchInFixed(7, seeds, 3, buffer, 0)).isEqualTo(-1);
  }

  @Test
  void theSameInEveryProcess() {
    UnsafeBuffer keys = filled(0);
    assertThat(Arrays.hashCode(keys.byteArray())).isEqualTo(561_926_110);
  }

  @Test
  void wrongCallsAreRefused() {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
    TensorSpec spec = LAYOUT.tensors().get(0);
    Strides strides = Strides.packed(spec, 0, 4);
    state.fillRows(0, seeds, 0, 4, buffer, strides);
    for (Runnable wrong :
        List.<Runnable>of(
            () -> state.fillRows(0, seeds, 0, 40, buffer, strides),
            () -> state.fillRows(0, seeds, -1, 2, buffer, strides),
            () -> state.fillRows(0, seeds, 3, 2, buffer, strides),
            () -> state.fillRows(0, seeds, 143, 145, buffer, strides),
            () -> state.fillRows(0, seeds, 0, 4, buffer, new Strides(-1, 8, 2)),
            () -> state.fillRows(0, seeds, 0, 4, buffer, new Strides(41, 8, 2)),
            () -> state.fillRows(0, seeds, 0, 4, buffer, new Strides(0, Long.MAX_VALUE, 2)),
            () -> state.fillRows(0, seeds, 0, 4, buffer, new Strides(0, -8, 2)),
            () -> state.fillRows(6, seeds, 0, 1, buffer, strides),
            () -> state.fillFixed(0, seeds, 1, buffer, 0),
            () -> state.fillFixed(6, seeds, 1, buffer, 0),
            () -> state.fillFixed(7, seeds, 0, buffer, 0),
            () -> state.fillFixed(7, seeds, BLOCKS + 1, buffer, 0))) {
      assertThatThrownBy(wrong::run).isInstanceOf(InvalidArgumentException.class);
    }
    // Exactly as long as it must be.
    state.fillRows(0, seeds, 0, 4, buffer, new Strides(64 - 2 * 8 - 8, 8, 2));
  }

  @Test
  void bf16LooksLikeNormals() {
    Layout layout = Layout.of(64, TensorSpec.rows("k", DType.BF16, 1, 4, TOKEN_AXIS, 64));
    TensorSpec spec = layout.tensors().get(0);
    SyntheticState normals = new SyntheticState(layout);
    double raw = 0;
    double stored = 0;
    double sum = 0;
    double sumOfSquares = 0;
    for (int block = 0; block < 16; block++) {
      byte[] bytes = new byte[(int) spec.bytesOfRows(64)];
      normals.fillRows(
          0,
          BlockSeeds.of(keys(block, 1)),
          0,
          64,
          new UnsafeBuffer(bytes),
          Strides.packed(spec, 0, 64));
      int count = bytes.length / 2;
      byte[] low = new byte[count];
      byte[] high = new byte[count];
      for (int i = 0; i < count; i++) {
        low[i] = bytes[2 * i];
        high[i] = bytes[2 * i + 1];
        float value = Float.intBitsToFloat((high[i] & 0xff) << 24 | (low[i] & 0xff) << 16);
        assertThat(value).isFinite();
        sum += value;
        sumOfSquares += value * value;
      }
      int lowStored = Zstd.compress(low, 1).length;
      assertThat(lowStored).isGreaterThan((int) (0.98 * count));
      raw += bytes.length;
      stored += Math.min(count, lowStored) + Zstd.compress(high, 1).length;
    }
    double count = raw / 2;
    assertThat(sum / count).isBetween(-0.02, 0.02);
    assertThat(Math.sqrt(sumOfSquares / count)).isBetween(0.9, 1.2);
    assertThat(raw / stored).isBetween(1.40, 1.50);
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void everyTypeIsFilledAndChecked(DType type) {
    Layout layout = Layout.of(64, TensorSpec.rows("k", type, 1, 2, TOKEN_AXIS, 33));
    TensorSpec spec = layout.tensors().get(0);
    SyntheticState any = new SyntheticState(layout);
    BlockSeeds chain = BlockSeeds.of(keys(7, 3));
    byte[] bytes = new byte[(int) spec.bytesOfRows(192)];
    UnsafeBuffer buffer = new UnsafeBuffer(bytes);
    Strides strides = Strides.packed(spec, 0, 192);
    any.fillRows(0, chain, 0, 192, buffer, strides);
    assertThat(any.firstMismatch(0, chain, 0, 192, buffer, strides)).isEqualTo(-1);
    ByteBuffer values = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (values.hasRemaining()) {
      switch (type) {
        case F32 -> assertThat(values.getFloat()).isFinite();
        case F64 -> assertThat(values.getDouble()).isFinite();
        case BOOL -> assertThat(values.get()).isBetween((byte) 0, (byte) 1);
        default -> values.get();
      }
    }
    assertThat(new String(bytes, StandardCharsets.ISO_8859_1).chars().distinct().count())
        .isGreaterThanOrEqualTo(type == DType.BOOL ? 2 : 64);
  }

  private static void swap(UnsafeBuffer buffer, int a, int b, int length) {
    byte[] first = new byte[length];
    byte[] second = new byte[length];
    buffer.getBytes(a, first);
    buffer.getBytes(b, second);
    buffer.putBytes(a, second);
    buffer.putBytes(b, first);
  }
}
