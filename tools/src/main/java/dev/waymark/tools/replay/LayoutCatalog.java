package dev.waymark.tools.replay;

import static dev.waymark.layout.TensorSpec.TOKEN_AXIS;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Layouts of models in the field, at full size, by a short name. Keys, values and convolution state
 * are bf16, recurrent state and carries f32. Kinds of layers are spread evenly over the model, as
 * models do it, so that a layout's order has large and small tensors next to each other.
 */
final class LayoutCatalog {
  private LayoutCatalog() {}

  /** Names in order, and what they are. */
  enum Entry {
    L1("dense hybrid, 27B"),
    L2("sparse hybrid, 125B"),
    L3("sparse hybrid, 35B"),
    L4("sliding windows of 1,024, 31B"),
    L5("attention only, 20 layers"),
    L6("latent and delta attention"),
    L7("sliding windows of 512, 48 layers"),
    L8("pooled caches and sliding windows of 640"),
    L9("small convolution hybrid");

    private final String description;

    Entry(String description) {
      this.description = description;
    }

    /** What kind of model it is. */
    String description() {
      return description;
    }
  }

  /** Every name with what it is, for messages and help. */
  static String names() {
    return Stream.of(Entry.values())
        .map(entry -> entry + " (" + entry.description() + ")")
        .collect(Collectors.joining(", "));
  }

  /** The layout of an entry, cut into blocks of so many tokens. */
  static Layout layout(Entry entry, int blockTokens) {
    List<LayerKind> kinds =
        switch (entry) {
          case L1 -> List.of(recurrent(48, 48, 10_240), attention(16, 4, 256));
          case L2 -> List.of(recurrent(36, 48, 10_240), attention(12, 2, 256));
          case L3 -> List.of(recurrent(30, 32, 8_192), attention(10, 2, 256));
          case L4 -> List.of(rotating(50, 1_024, 16, 256), attention(10, 16, 256));
          case L5 -> List.of(attention(20, 8, 256));
          case L6 -> List.of(recurrent(69, 96, 36_864), latent(24, 576));
          case L7 -> List.of(rotating(36, 512, 8, 128), attention(12, 8, 128));
          case L8 ->
              List.of(rotating(16, 640, 1, 128), pooled(8, 4, 1, 128), pooled(8, 128, 1, 128));
          case L9 -> List.of(single(22, 2, 2_048), attention(8, 8, 64));
        };
    return Layout.of(blockTokens, spread(kinds));
  }

  /** The entry of a name, in upper or lower case. */
  static Entry entry(String name) {
    for (Entry entry : Entry.values()) {
      if (entry.name().equalsIgnoreCase(name)) {
        return entry;
      }
    }
    throw new InvalidSettingException(
        ErrorDetail.of("no layout has this name").expected("L1 to L9").found("'" + name + "'"));
  }

  /** Layers alike, and the tensors of the one at a place in the model. */
  private record LayerKind(int count, IntFunction<List<TensorSpec>> tensors) {}

  private static LayerKind attention(int count, long heads, long width) {
    return new LayerKind(
        count,
        layer ->
            List.of(
                TensorSpec.rows(name(layer, "keys"), DType.BF16, 1, heads, TOKEN_AXIS, width),
                TensorSpec.rows(name(layer, "values"), DType.BF16, 1, heads, TOKEN_AXIS, width)));
  }

  private static LayerKind rotating(int count, int windowTokens, long heads, long width) {
    return new LayerKind(
        count,
        layer ->
            List.of(
                TensorSpec.window(
                    name(layer, "keys"), DType.BF16, windowTokens, 0, heads, TOKEN_AXIS, width),
                TensorSpec.window(
                    name(layer, "values"), DType.BF16, windowTokens, 0, heads, TOKEN_AXIS, width)));
  }

  private static LayerKind recurrent(int count, long heads, long channels) {
    return new LayerKind(
        count,
        layer ->
            List.of(
                TensorSpec.fixed(name(layer, "state"), DType.F32, heads, 128, 128),
                TensorSpec.fixed(name(layer, "conv"), DType.BF16, 3, channels)));
  }

  private static LayerKind latent(int count, long width) {
    return new LayerKind(
        count,
        layer -> List.of(TensorSpec.rows(name(layer, "latent"), DType.BF16, 1, TOKEN_AXIS, width)));
  }

  /** Pooled rows, and a carry: what the pool that is not yet full has summed up. */
  private static LayerKind pooled(int count, int tokensPerRow, long heads, long width) {
    return new LayerKind(
        count,
        layer ->
            List.of(
                TensorSpec.rows(
                    name(layer, "keys"), DType.BF16, tokensPerRow, heads, TOKEN_AXIS, width),
                TensorSpec.rows(
                    name(layer, "values"), DType.BF16, tokensPerRow, heads, TOKEN_AXIS, width),
                TensorSpec.fixed(name(layer, "carry"), DType.F32, width)));
  }

  private static LayerKind single(int count, long taps, long channels) {
    return new LayerKind(
        count,
        layer -> List.of(TensorSpec.fixed(name(layer, "state"), DType.BF16, taps, channels)));
  }

  /** At each place the kind that is furthest behind its share; of two alike, the first. */
  private static List<TensorSpec> spread(List<LayerKind> kinds) {
    int total = kinds.stream().mapToInt(LayerKind::count).sum();
    int[] placed = new int[kinds.size()];
    List<TensorSpec> tensors = new ArrayList<>();
    for (int layer = 0; layer < total; layer++) {
      int next = 0;
      int mostBehind = Integer.MIN_VALUE;
      for (int kind = 0; kind < placed.length; kind++) {
        int behind = kinds.get(kind).count() * (layer + 1) - placed[kind] * total;
        if (behind > mostBehind) {
          mostBehind = behind;
          next = kind;
        }
      }
      placed[next]++;
      tensors.addAll(kinds.get(next).tensors().apply(layer));
    }
    return tensors;
  }

  private static String name(int layer, String role) {
    return "layer_" + layer + "_" + role;
  }
}
