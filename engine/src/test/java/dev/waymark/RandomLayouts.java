package dev.waymark;

import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Layouts of every growth, small, with the odd cases as likely as the plain ones. */
final class RandomLayouts {
  private static final DType[] TYPES = {
    DType.U8, DType.BF16, DType.F16, DType.F32, DType.F64, DType.F8_E4M3
  };
  private static final Codec[] LOSSLESS = {Codec.RAW, Codec.PLANES};

  private final Random random;

  RandomLayouts(Random random) {
    this.random = random;
  }

  Layout next() {
    int block = pick(1, 3, 4, 16);
    int count = random.nextInt(6) == 0 ? 1 : 1 + random.nextInt(5);
    List<TensorSpec> tensors = new ArrayList<>();
    // Large ones make records that do not fit a segment and have to be split.
    int large = random.nextInt(5) == 0 ? random.nextInt(count) : -1;
    for (int i = 0; i < count; i++) {
      tensors.add(tensor("t" + i, block, i == large));
    }
    return Layout.of(block, tensors);
  }

  CodecPlan codecs(Layout layout) {
    CodecPlan plan = random.nextBoolean() ? CodecPlan.RAW : CodecPlan.PLANES;
    for (TensorSpec spec : layout.tensors()) {
      if (random.nextInt(4) == 0) {
        plan = plan.withTensor(spec.name(), LOSSLESS[random.nextInt(2)]);
      }
    }
    return plan;
  }

  private TensorSpec tensor(String name, int block, boolean large) {
    DType type = TYPES[random.nextInt(TYPES.length)];
    switch (random.nextInt(3)) {
      case 0:
        return TensorSpec.rows(name, type, pick(1, 1, 2, 4, 3 * block), shape(large, block));
      case 1:
        int window = pick(1, block, 2 * block, 3 * block + 1, 7);
        return TensorSpec.window(name, type, window, pick(0, 0, 2, block + 1), shape(large, block));
      default:
        long last = large ? 90_000 / type.sizeBytes() : pick(0, 1, 5, 64);
        return random.nextInt(8) == 0
            ? TensorSpec.fixed(name, type)
            : TensorSpec.fixed(name, type, large ? 4 : pick(1, 3), last);
    }
  }

  private long[] shape(boolean large, int block) {
    long axis = TensorSpec.TOKEN_AXIS;
    if (large) {
      return new long[] {3, axis, 4_000 / Math.min(2, block)};
    }
    return switch (random.nextInt(8)) {
      case 0 -> new long[] {axis};
      case 1 -> new long[] {0, axis, 8};
      case 2 -> new long[] {2, axis, 0};
      case 3 -> new long[] {2, 2, axis};
      default -> new long[] {1 + random.nextInt(3), axis, 1 + random.nextInt(9)};
    };
  }

  private int pick(int... values) {
    return values[random.nextInt(values.length)];
  }
}
