package dev.waymark.jmh;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * What a model's state is made of, in the benchmarks. The hybrids and the sliding model are those
 * of the field at full size, or with fewer and narrower layers where that is said; attention is as
 * wide as a boundary is to be large.
 *
 * @param name as it stands in reports
 * @param layout the layout
 */
record Shape(String name, Layout layout) {
  private static final long AXIS = TensorSpec.TOKEN_AXIS;

  /** Eight layers of keys and values, 64 tokens a block; nothing but rows. */
  static Shape attention(int boundaryKib) {
    int tokens = 64;
    long width = ((long) boundaryKib << 10) / (2L * 8 * 2 * tokens * 2);
    List<TensorSpec> tensors = new ArrayList<>();
    attention(tensors, 8, 2, width);
    String size = boundaryKib >= 1024 ? (boundaryKib >> 10) + " MiB" : boundaryKib + " KiB";
    return new Shape("attention, " + size, Layout.of(tokens, tensors));
  }

  /** A dense hybrid of 27B: 16 layers of attention, 48 recurrent. */
  static Shape denseHybrid(int blockTokens) {
    List<TensorSpec> tensors = new ArrayList<>();
    recurrent(tensors, 48, 48, 128, 10_240);
    attention(tensors, 16, 4, 256);
    return new Shape("dense hybrid, " + blockTokens, Layout.of(blockTokens, tensors));
  }

  /** A sparse hybrid of 35B: 10 layers of attention, 30 recurrent. */
  static Shape sparseHybrid(int blockTokens) {
    List<TensorSpec> tensors = new ArrayList<>();
    recurrent(tensors, 30, 32, 128, 8_192);
    attention(tensors, 10, 2, 256);
    return new Shape("sparse hybrid, " + blockTokens, Layout.of(blockTokens, tensors));
  }

  /** A sliding model of 31B: 10 layers of attention, 50 with windows of 1,024. */
  static Shape sliding(int blockTokens) {
    List<TensorSpec> tensors = new ArrayList<>();
    windows(tensors, 50, 16, 256);
    attention(tensors, 10, 16, 256);
    return new Shape("sliding, " + blockTokens, Layout.of(blockTokens, tensors));
  }

  /** The dense hybrid at 1/256: a sixteenth of the layers, a sixteenth as wide. */
  static Shape smallDenseHybrid(int blockTokens) {
    List<TensorSpec> tensors = new ArrayList<>();
    recurrent(tensors, 3, 3, 128, 640);
    attention(tensors, 1, 1, 64);
    return new Shape("dense hybrid at 1/256", Layout.of(blockTokens, tensors));
  }

  /** A sparse hybrid of 125B at 1/192: a twelfth of the layers, a sixteenth as wide. */
  static Shape smallSparseHybrid(int blockTokens) {
    List<TensorSpec> tensors = new ArrayList<>();
    recurrent(tensors, 3, 3, 128, 640);
    attention(tensors, 1, 1, 32);
    return new Shape("sparse hybrid at 1/192", Layout.of(blockTokens, tensors));
  }

  /** The sliding model at 1/640: a tenth of the layers, a 64th as wide. */
  static Shape smallSliding(int blockTokens) {
    List<TensorSpec> tensors = new ArrayList<>();
    windows(tensors, 5, 1, 64);
    attention(tensors, 1, 1, 64);
    return new Shape("sliding at 1/640", Layout.of(blockTokens, tensors));
  }

  private static void attention(List<TensorSpec> tensors, int layers, long heads, long width) {
    for (int i = 0; i < layers; i++) {
      for (String role : List.of("keys", "values")) {
        tensors.add(
            TensorSpec.rows("attention_" + i + "_" + role, DType.BF16, 1, heads, AXIS, width));
      }
    }
  }

  private static void windows(List<TensorSpec> tensors, int layers, long heads, long width) {
    for (int i = 0; i < layers; i++) {
      for (String role : List.of("keys", "values")) {
        tensors.add(
            TensorSpec.window(
                "sliding_" + i + "_" + role, DType.BF16, 1_024, 0, heads, AXIS, width));
      }
    }
  }

  private static void recurrent(
      List<TensorSpec> tensors, int layers, long heads, long width, long channels) {
    for (int i = 0; i < layers; i++) {
      tensors.add(TensorSpec.fixed("recurrent_" + i + "_state", DType.F32, heads, width, width));
      tensors.add(TensorSpec.fixed("recurrent_" + i + "_conv", DType.BF16, 3, channels));
    }
  }
}
