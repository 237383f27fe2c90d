package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class HybridModelTest {
  private static final int TOKENS = 75;

  /** Changes only if the arithmetic, the weights or the prompt do; then it may be replaced. */
  private static final int GOLDEN = 1363537159;

  private final ModelConfig config = ModelConfig.tiny();
  private final HybridModel model = new HybridModel(config);
  private final int[] prompt = ToyPrompts.tokens(new ToyTokenizer(config.vocab()), 5, TOKENS);

  @Test
  void twoModelsOfOneConfigurationComputeTheSameBits() {
    ModelState state = model.newState(TOKENS);
    ModelState other = model.newState(TOKENS);

    int[] logits = bits(model.prefill(state, prompt, 0, TOKENS));

    assertThat(bits(new HybridModel(config).prefill(other, prompt, 0, TOKENS))).isEqualTo(logits);
    assertSameBytes(other, state);
  }

  @Test
  void bitsDoNotChangeFromOneJvmToTheNext() {
    ModelState state = model.newState(TOKENS);

    float[] logits = model.prefill(state, prompt, 0, TOKENS);

    assertThat(Arrays.hashCode(logits)).isEqualTo(GOLDEN);
  }

  @Test
  void anotherSeedIsAnotherModel() {
    HybridModel other = new HybridModel(config.withSeed(8));

    assertThat(other.prefill(other.newState(TOKENS), prompt, 0, TOKENS))
        .isNotEqualTo(model.prefill(model.newState(TOKENS), prompt, 0, TOKENS));
  }

  @Test
  void chunksOfAnySizeEqualTokenByToken() {
    ModelState stepped = model.newState(TOKENS);
    float[] logits = null;
    for (int token : prompt) {
      logits = model.step(stepped, token);
    }
    for (int chunk : new int[] {2, 7, 31, 32, 33, TOKENS}) {
      ModelState state = model.newState(TOKENS);
      float[] chunked = null;
      for (int from = 0; from < TOKENS; from += chunk) {
        chunked = model.prefill(state, prompt, from, Math.min(TOKENS, from + chunk));
      }
      assertThat(bits(chunked)).as("chunks of %d", chunk).isEqualTo(bits(logits));
      assertSameBytes(state, stepped);
    }
  }

  @Test
  void copyContinuesLikeTheOriginal() {
    int[] expected = bits(model.prefill(model.newState(TOKENS), prompt, 0, TOKENS));
    for (int k = 1; k < TOKENS; k += 4) {
      ModelState original = model.newState(TOKENS);
      model.prefill(original, prompt, 0, k);
      ModelState copy = original.copy();

      assertThat(bits(model.prefill(original, prompt, k, TOKENS))).isEqualTo(expected);
      assertThat(copy.tokens()).isEqualTo(k);
      assertThat(bits(model.prefill(copy, prompt, k, TOKENS))).isEqualTo(expected);
    }
  }

  @Test
  void rowsPlacedByTheSlotRuleRestoreIntoAnyState() {
    int[] expected = bits(model.prefill(model.newState(TOKENS), prompt, 0, TOKENS));
    for (int k = 1; k < TOKENS; k += 3) {
      ModelState original = model.newState(TOKENS);
      model.prefill(original, prompt, 0, k);
      ModelState used = model.newState(TOKENS + 50);
      model.prefill(used, ToyPrompts.tokens(new ToyTokenizer(config.vocab()), 6, 99), 0, 99);
      poison(used);

      for (int i = 0; i < used.tensors().size(); i++) {
        copyLiveRows(original.tensors().get(i), used.tensors().get(i), k);
      }
      used.restoredTo(k);

      assertThat(bits(model.prefill(used, prompt, k, TOKENS))).as("at %d", k).isEqualTo(expected);
    }
  }

  @Test
  void everyTensorMatters() {
    int k = 60;
    ModelState state = model.newState(TOKENS);
    model.prefill(state, prompt, 0, k);
    float[] expected = model.prefill(state.copy(), prompt, k, k + 1);
    for (int i = 0; i < state.tensors().size(); i++) {
      ModelState damaged = state.copy();
      StateTensor tensor = damaged.tensors().get(i);
      // The sign and exponent of an element of the newest row in the last head.
      int row = tensor.kind() == StateTensor.Kind.FIXED ? 2 : tensor.slotOf(k - 1);
      int at = (tensor.heads() - 1) * tensor.outerStrideBytes() + row * tensor.rowStrideBytes();
      at += tensor.dtype().bytes() - 1;
      tensor.buffer().put(at, (byte) (tensor.buffer().get(at) ^ 0x80));
      damaged.restoredTo(k);

      assertThat(model.prefill(damaged, prompt, k, k + 1)).as(tensor.name()).isNotEqualTo(expected);
    }
  }

  @Test
  void slidingLayersWiderThanTheSequenceEqualFullAttention() {
    HybridModel full =
        new HybridModel(
            config.withLayers(List.of(LayerKind.FULL_ATTENTION, LayerKind.FULL_ATTENTION)));
    HybridModel sliding =
        new HybridModel(
            config
                .withLayers(List.of(LayerKind.SLIDING_ATTENTION, LayerKind.SLIDING_ATTENTION))
                .withWindow(TOKENS - 2, 2));

    assertThat(bits(sliding.prefill(sliding.newState(TOKENS), prompt, 0, TOKENS)))
        .isEqualTo(bits(full.prefill(full.newState(TOKENS), prompt, 0, TOKENS)));
  }

  @Test
  void greedyLeavesTheLastChosenTokenToTheCaller() {
    ModelState state = model.newState(TOKENS + 20);
    float[] logits = model.prefill(state, prompt, 0, TOKENS);
    ModelState copy = state.copy();

    int[] chosen = model.greedy(state, logits, 20);

    assertThat(state.tokens()).isEqualTo(TOKENS + 19);
    assertThat(chosen[0]).isEqualTo(HybridModel.argmax(logits));
    assertThat(model.greedy(copy, logits, 20)).isEqualTo(chosen);
    assertThat(Arrays.stream(chosen).distinct().count()).isGreaterThan(3);
  }

  @Test
  void argmaxPrefersTheLowestIdAmongEquals() {
    assertThat(HybridModel.argmax(new float[] {1f, 3f, 3f, 2f})).isEqualTo(1);
  }

  @Test
  void resetStartsOver() {
    ModelState state = model.newState(TOKENS);
    int[] expected = bits(model.prefill(state, prompt, 0, TOKENS));

    state.reset();

    assertThat(state.tokens()).isZero();
    assertThat(bits(model.prefill(state, prompt, 0, TOKENS))).isEqualTo(expected);
  }

  @Test
  void refusedTokensLeaveTheStateAlone() {
    ModelState state = model.newState(TOKENS - 1);
    model.prefill(state, prompt, 0, 10);
    ModelState before = state.copy();

    assertThatThrownBy(() -> model.prefill(state, prompt, 0, TOKENS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no room");
    assertThatThrownBy(() -> model.step(state, config.vocab()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("vocabulary");
    assertThatThrownBy(() -> model.prefill(state, prompt, 3, 3))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new HybridModel(config.withSeed(1)).step(state, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("configuration");
    assertThat(state.tokens()).isEqualTo(10);
    assertSameBytes(state, before);
  }

  private static int[] bits(float[] values) {
    int[] bits = new int[values.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = Float.floatToRawIntBits(values[i]);
    }
    return bits;
  }

  private static void assertSameBytes(ModelState actual, ModelState expected) {
    for (int i = 0; i < expected.tensors().size(); i++) {
      StateTensor tensor = expected.tensors().get(i);
      assertThat(actual.tensors().get(i).buffer()).as(tensor.name()).isEqualTo(tensor.buffer());
    }
  }

  /** All ones: NaN in either encoding, which no computation would swallow. */
  private static void poison(ModelState state) {
    for (StateTensor tensor : state.tensors()) {
      ByteBuffer bytes = tensor.buffer();
      while (bytes.hasRemaining()) {
        bytes.put((byte) -1);
      }
    }
  }

  /** Copies what a restore to {@code count} tokens needs and nothing else. */
  private static void copyLiveRows(StateTensor from, StateTensor to, int count) {
    if (from.kind() == StateTensor.Kind.FIXED) {
      to.buffer().put(from.buffer());
      return;
    }
    for (int token = 0; token < count; token++) {
      if (token < from.sinkRows() || token >= from.firstWindowToken()) {
        copyRow(from, to, token);
      }
    }
  }

  private static void copyRow(StateTensor from, StateTensor to, int token) {
    for (int head = 0; head < from.heads(); head++) {
      int source = head * from.outerStrideBytes() + from.slotOf(token) * from.rowStrideBytes();
      int target = head * to.outerStrideBytes() + to.slotOf(token) * to.rowStrideBytes();
      to.buffer().put(target, from.buffer(), source, from.rowStrideBytes());
    }
  }
}
