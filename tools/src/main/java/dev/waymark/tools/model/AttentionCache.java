package dev.waymark.tools.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ShortBuffer;

/**
 * Keys and values of one attention layer, [heads][capacity][width] bf16 each.
 *
 * <p>The byte buffers are the state. Beside them stands a mirror of the same bf16 values decoded to
 * floats: decoding the whole past again for every token would cost more than attending to it. The
 * mirror never holds anything that could not be read from the buffers, and {@link #reload} rebuilds
 * it from them.
 */
final class AttentionCache {
  /** Slots whose scores are formed side by side. */
  static final int BLOCK = 256;

  final int heads;
  final int width;
  final RowSlots slots;
  final ByteBuffer keys;
  final ByteBuffer values;

  private final ShortBuffer keyBits;
  private final ShortBuffer valueBits;

  /** [heads][slot / BLOCK][width][slot % BLOCK]; a block is made when it is first written to. */
  private final float[][][][] keyColumns;

  /** [heads][slot][width]; a row is made when it is first written to. */
  private final float[][][] valueRows;

  private int tokens;

  AttentionCache(int heads, int width, RowSlots slots) {
    this.heads = heads;
    this.width = width;
    this.slots = slots;
    int bytes = Math.multiplyExact(Math.multiplyExact(heads, slots.capacity()), width * 2);
    this.keys = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    this.values = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    this.keyBits = keys.asShortBuffer();
    this.valueBits = values.asShortBuffer();
    this.keyColumns = new float[heads][(slots.capacity() + BLOCK - 1) / BLOCK][][];
    this.valueRows = new float[heads][slots.capacity()][];
  }

  void clear() {
    tokens = 0;
  }

  /** Takes what the buffers hold now for the rows of the first {@code count} tokens. */
  void reload(int count) {
    int held = slots.held(count);
    short[] key = new short[width];
    short[] value = new short[width];
    for (int head = 0; head < heads; head++) {
      for (int slot = 0; slot < held; slot++) {
        keyBits.get(bitsAt(head, slot), key);
        valueBits.get(bitsAt(head, slot), value);
        mirror(head, slot, key, value);
      }
    }
    tokens = count;
  }

  /**
   * Takes the next n tokens and lets each of them attend to what is held once it is in.
   *
   * @param queries [n][queryHeads * width], scaled already; the heads share {@link #heads} evenly
   * @param newKeys [n][heads * width]
   * @param newValues [n][heads * width]
   * @return [n][queryHeads * width], softmax-weighted means of the values held
   */
  float[][] attend(float[][] queries, float[][] newKeys, float[][] newValues) {
    int n = queries.length;
    float[][] out = new float[n][queries[0].length];
    // A growing cache may run ahead, a token just ignores later slots, and then rows are fetched
    // from memory once for all n. In a ring the next token overwrites what this one still needs.
    int run = slots.ring() ? 1 : n;
    for (int from = 0; from < n; from += run) {
      int before = tokens;
      for (int t = from; t < from + run; t++) {
        append(newKeys[t], newValues[t]);
      }
      for (int at = 0; at < queries[0].length; at += width) {
        int head = at / width * heads * width / queries[0].length;
        attend(head, queries, at, from, run, before, out);
      }
    }
    return out;
  }

  private void append(float[] key, float[] value) {
    int slot = slots.slotOf(tokens);
    short[] keyRow = new short[width];
    short[] valueRow = new short[width];
    for (int head = 0; head < heads; head++) {
      for (int d = 0; d < width; d++) {
        keyRow[d] = BFloat16.encode(key[head * width + d]);
        valueRow[d] = BFloat16.encode(value[head * width + d]);
      }
      keyBits.put(bitsAt(head, slot), keyRow);
      valueBits.put(bitsAt(head, slot), valueRow);
      mirror(head, slot, keyRow, valueRow);
    }
    tokens++;
  }

  /**
   * One query head, at offset {@code at} of each token's queries and results, for a run of tokens
   * with {@code before} tokens ahead of it.
   *
   * <p>Slots are visited in slot order, not in token order, and a restore does not change it. The
   * usual subtraction of the greatest score is left out: queries and keys are normalised, so no
   * score leaves the range of {@link FloatKernels#exp}, and one pass over the past suffices.
   */
  private void attend(
      int head, float[][] queries, int at, int from, int run, int before, float[][] out) {
    float[][] means = new float[run][width];
    float[][] sums = new float[run][BLOCK];
    int held = slots.held(before + run);
    for (int start = 0; start < held; start += BLOCK) {
      for (int i = 0; i < run; i++) {
        int n = Math.min(BLOCK, slots.held(before + i + 1) - start);
        if (n > 0) {
          attendBlock(head, start, n, queries[from + i], at, means[i], sums[i]);
        }
      }
    }
    for (int i = 0; i < run; i++) {
      float total = 0f;
      for (float sum : sums[i]) {
        total += sum;
      }
      for (int d = 0; d < width; d++) {
        out[from + i][at + d] = means[i][d] / total;
      }
    }
  }

  /** Adds n slots' values to mean by their exponential scores, and the weights to sums. */
  private void attendBlock(
      int head, int start, int n, float[] query, int at, float[] mean, float[] sums) {
    float[] weights = new float[BLOCK];
    float[][] columns = keyColumns[head][start / BLOCK];
    for (int d = 0; d < width; d += 4) {
      FloatKernels.addRows4(columns, d, query, at + d, weights, n);
    }
    FloatKernels.expInPlace(weights, n);
    FloatKernels.add(sums, weights, n);
    float[][] rows = valueRows[head];
    int i = 0;
    for (; i + 4 <= n; i += 4) {
      FloatKernels.addRows4(rows, start + i, weights, i, mean, width);
    }
    for (; i < n; i++) {
      FloatKernels.addScaled(mean, weights[i], rows[start + i], width);
    }
  }

  private void mirror(int head, int slot, short[] key, short[] value) {
    float[][] columns = keyColumns[head][slot / BLOCK];
    if (columns == null) {
      columns = new float[width][BLOCK];
      keyColumns[head][slot / BLOCK] = columns;
    }
    float[] row = valueRows[head][slot];
    if (row == null) {
      row = new float[width];
      valueRows[head][slot] = row;
    }
    for (int d = 0; d < width; d++) {
      columns[d][slot % BLOCK] = BFloat16.decode(key[d]);
      row[d] = BFloat16.decode(value[d]);
    }
  }

  private int bitsAt(int head, int slot) {
    return (head * slots.capacity() + slot) * width;
  }
}
