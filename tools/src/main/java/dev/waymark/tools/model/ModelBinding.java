package dev.waymark.tools.model;

import dev.waymark.RestoredState;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How a {@link HybridModel} meets a store: the layout of its state, what it is known by, and views
 * of the buffers of a {@link ModelState}. The store reads and writes those buffers themselves;
 * nothing is bundled up in between.
 */
public final class ModelBinding {
  private final Layout layout;
  private final ModelIdentity identity;
  private final Map<String, TensorSpec> specs = new LinkedHashMap<>();

  /** Binds models of a configuration, with boundaries every {@code blockTokens} tokens. */
  public ModelBinding(ModelConfig config, int blockTokens) {
    // Shapes do not depend on the capacity, but for the token axis.
    for (StateTensor tensor : new ModelState(config, 1).tensors()) {
      specs.put(tensor.name(), spec(tensor));
    }
    layout = Layout.of(blockTokens, List.copyOf(specs.values()));
    identity = identity(config);
  }

  /** What the state is made of, layer by layer. */
  public Layout layout() {
    return layout;
  }

  /** Whatever makes the state of one model useless to another. */
  public ModelIdentity identity() {
    return identity;
  }

  /** Views of what a state holds now. */
  public StateViews views(ModelState state) {
    return views(state, state.tokens());
  }

  /**
   * Brings a state to a restore point. The state is right when this returns, and may hold anything
   * when it throws.
   */
  public RestoredState.Restored restore(RestoredState source, ModelState state) {
    source.read(views(state, source.tokens()));
    RestoredState.Restored restored = source.finish();
    state.restoredTo(source.tokens());
    return restored;
  }

  /** Views of the places where the state after so many tokens is, or goes. */
  private StateViews views(ModelState state, int tokens) {
    StateViews.Builder views = StateViews.builder();
    for (StateTensor tensor : state.tensors()) {
      TensorSpec spec = specs.get(tensor.name());
      views.put(spec, view(spec, tensor, tokens));
    }
    return views.build();
  }

  private static TensorView view(TensorSpec spec, StateTensor tensor, int tokens) {
    Memory memory = Memory.of(tensor.buffer());
    return switch (tensor.kind()) {
      case ROWS ->
          TensorView.linear(
              memory, 0, tensor.outerStrideBytes(), tensor.rowStrideBytes(), 0, tokens);
      case WINDOW ->
          TensorView.ring(
              memory,
              0,
              tensor.outerStrideBytes(),
              tensor.rowStrideBytes(),
              tensor.capacityRows(),
              tensor.sinkRows(),
              tensor.slotOf(tokens),
              tokens);
      case FIXED -> TensorView.value(spec, memory, 0);
    };
  }

  private static TensorSpec spec(StateTensor tensor) {
    DType dtype =
        switch (tensor.dtype()) {
          case BF16 -> DType.BF16;
          case F32 -> DType.F32;
        };
    long heads = tensor.heads();
    long width = tensor.width();
    return switch (tensor.kind()) {
      case ROWS -> TensorSpec.rows(tensor.name(), dtype, 1, heads, TensorSpec.TOKEN_AXIS, width);
      case WINDOW ->
          TensorSpec.window(
              tensor.name(),
              dtype,
              tensor.windowRows(),
              tensor.sinkRows(),
              heads,
              TensorSpec.TOKEN_AXIS,
              width);
      case FIXED ->
          TensorSpec.fixed(
              tensor.name(),
              dtype,
              tensor.shape().stream().mapToLong(Integer::longValue).toArray());
    };
  }

  /** Weights come from the configuration and its seed, so a digest of that stands for theirs. */
  private static ModelIdentity identity(ModelConfig config) {
    return ModelIdentity.builder()
        .weights(digest(config.toString()))
        .tokenizer("toy-" + config.vocab())
        .rope("as built in")
        .quantisation("none, cache bf16")
        .parallel("1")
        .engine("waymark-toy/1")
        .build();
  }

  private static String digest(String text) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      byte[] digest = sha256.digest(text.getBytes(StandardCharsets.UTF_8));
      return "sha256:" + HexFormat.of().formatHex(digest, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
