package dev.waymark.tools.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;

/**
 * What one gated delta net layer remembers: a recurrent state [heads][dk][dv] f32 and the last
 * three inputs of its convolution, [3][channels] bf16, oldest first.
 *
 * <p>The byte buffers are the state. The arrays are working copies that are valid between {@link
 * #load} and {@link #store} only.
 */
final class DeltaNetCache {
  /** Earlier inputs that a convolution over four tokens reaches back to. */
  static final int TAIL = 3;

  final ByteBuffer recurrentBytes;
  final ByteBuffer convBytes;

  /** [heads * dk][dv]. */
  final float[][] recurrent;

  /** [TAIL][channels]. */
  final float[][] conv;

  DeltaNetCache(ModelConfig config) {
    int rows = config.recurrentHeads() * config.keyWidth();
    int channels = config.convChannels();
    recurrent = new float[rows][config.valueWidth()];
    conv = new float[TAIL][channels];
    recurrentBytes =
        ByteBuffer.allocateDirect(rows * config.valueWidth() * Float.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    convBytes =
        ByteBuffer.allocateDirect(TAIL * channels * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  void load() {
    FloatBuffer floats = recurrentBytes.asFloatBuffer();
    for (float[] row : recurrent) {
      floats.get(row);
    }
    ShortBuffer bits = convBytes.asShortBuffer();
    for (float[] row : conv) {
      for (int i = 0; i < row.length; i++) {
        row[i] = BFloat16.decode(bits.get());
      }
    }
  }

  void store() {
    FloatBuffer floats = recurrentBytes.asFloatBuffer();
    for (float[] row : recurrent) {
      floats.put(row);
    }
    ShortBuffer bits = convBytes.asShortBuffer();
    for (float[] row : conv) {
      for (float value : row) {
        bits.put(BFloat16.encode(value));
      }
    }
  }

  void clear() {
    for (float[] row : recurrent) {
      Arrays.fill(row, 0f);
    }
    for (float[] row : conv) {
      Arrays.fill(row, 0f);
    }
    store();
  }
}
