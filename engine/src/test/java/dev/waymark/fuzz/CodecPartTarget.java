package dev.waymark.fuzz;

import dev.waymark.error.CorruptionException;
import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.codec.CodecScratch;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.TensorSpec;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One stored chunk of a part, decoded by any codec into memory between guards. An input is: codec,
 * type, width of a row, two bytes of raw length, and the stored bytes.
 */
public final class CodecPartTarget {
  static final int HEADER_BYTES = 5;

  /** More than any plane or row needs to be of several blocks. */
  private static final int MOST_RAW_BYTES = 1 << 14;

  private static final int GUARD_BYTES = 64;
  private static final byte GUARD = 0x5A;
  private static final CodecScratch SCRATCH = new CodecScratch();
  private static final byte[] TARGET = new byte[MOST_RAW_BYTES + 2 * GUARD_BYTES];

  private CodecPartTarget() {}

  /** Called by Jazzer. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length < HEADER_BYTES) {
      return;
    }
    Codec codec = Codec.values()[(input[0] & 0xFF) % Codec.values().length];
    DType type = DType.values()[(input[1] & 0xFF) % DType.values().length];
    TensorSpec tensor = TensorSpec.rows("t", type, 1, TensorSpec.TOKEN_AXIS, input[2] & 0xFF);
    int raw = ((input[3] & 0xFF) | (input[4] & 0xFF) << 8) % (MOST_RAW_BYTES + 1);
    if (!ChunkCodecs.applicable(codec, tensor)) {
      return;
    }
    byte[] stored = Arrays.copyOfRange(input, HEADER_BYTES, input.length);
    Arrays.fill(TARGET, GUARD);
    try {
      ChunkCodecs.of(codec, tensor)
          .decode(
              SCRATCH,
              new UnsafeBuffer(stored),
              0,
              stored.length,
              new UnsafeBuffer(TARGET),
              GUARD_BYTES,
              raw);
    } catch (CorruptionException e) {
      // As declared.
    }
    guarded(0, GUARD_BYTES);
    guarded(GUARD_BYTES + raw, TARGET.length);
  }

  private static void guarded(int from, int to) {
    for (int i = from; i < to; i++) {
      if (TARGET[i] != GUARD) {
        throw new AssertionError("byte " + (i - GUARD_BYTES) + " was written");
      }
    }
  }
}
