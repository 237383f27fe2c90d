package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelStateTest {
  private static final int CAPACITY = 40;

  private final ModelConfig config = ModelConfig.tiny();
  private final HybridModel model = new HybridModel(config);
  private final ModelState state = model.newState(CAPACITY);

  @Test
  void tensorsSayWhatTheyAre() {
    assertThat(state.tensors().subList(0, 8))
        .map(StateTensor::toString)
        .containsExactly(
            "layer_0_recurrent FIXED F32[2, 8, 16]",
            "layer_0_conv FIXED BF16[3, 64]",
            "layer_1_recurrent FIXED F32[2, 8, 16]",
            "layer_1_conv FIXED BF16[3, 64]",
            "layer_2_keys WINDOW BF16[2, 15, 8]",
            "layer_2_values WINDOW BF16[2, 15, 8]",
            "layer_3_keys ROWS BF16[2, 40, 8]",
            "layer_3_values ROWS BF16[2, 40, 8]");
    assertThat(state.tensors()).hasSize(16).map(StateTensor::name).doesNotHaveDuplicates();
  }

  @Test
  void buffersAreDirectLittleEndianAndAsLargeAsTheirStridesSay() {
    for (StateTensor tensor : state.tensors()) {
      assertThat(tensor.buffer().isDirect()).isTrue();
      assertThat(tensor.buffer().order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
      assertThat(tensor.buffer().remaining())
          .isEqualTo(tensor.heads() * tensor.outerStrideBytes())
          .isEqualTo(tensor.heads() * tensor.capacityRows() * tensor.rowStrideBytes());
    }
  }

  @Test
  void ringTakesSlotsInTurnBehindItsSinks() {
    StateTensor ring = tensor("layer_2_keys");
    assertThat(ring.sinkRows()).isEqualTo(3);
    assertThat(ring.windowRows()).isEqualTo(12);
    assertThat(List.of(0, 2, 3, 14, 15, 26, 27))
        .map(ring::slotOf)
        .containsExactly(0, 2, 3, 14, 3, 14, 3);

    model.prefill(state, new int[20], 0, 20);

    assertThat(ring.tokens()).isEqualTo(20);
    assertThat(ring.heldRows()).isEqualTo(15);
    assertThat(ring.nextSlot()).isEqualTo(8);
    assertThat(ring.firstWindowToken()).isEqualTo(8);
  }

  @Test
  void stepWritesOneSlotOfARing() {
    model.prefill(state, new int[20], 0, 20);
    StateTensor before = find(state.copy(), "layer_2_values");
    StateTensor ring = tensor("layer_2_values");
    int written = ring.nextSlot();

    model.step(state, 9);

    for (int slot = 0; slot < ring.capacityRows(); slot++) {
      int row = ring.rowStrideBytes();
      assertThat(
              ring.buffer().slice(slot * row, row).equals(before.buffer().slice(slot * row, row)))
          .as("slot %d unchanged", slot)
          .isEqualTo(slot != written);
    }
  }

  @Test
  void rowsOfAGrowingTensorFollowTheTokens() {
    StateTensor rows = tensor("layer_3_keys");
    model.prefill(state, new int[20], 0, 20);

    assertThat(rows.slotOf(17)).isEqualTo(17);
    assertThat(rows.heldRows()).isEqualTo(20);
    assertThat(rows.nextSlot()).isEqualTo(20);
    assertThat(rows.sinkRows()).isZero();
    assertThat(rows.windowRows()).isZero();
    assertThat(rows.firstWindowToken()).isZero();
  }

  @Test
  void fixedTensorsHaveNoSlots() {
    StateTensor fixed = tensor("layer_0_recurrent");

    assertThat(fixed.heldRows()).isEqualTo(fixed.capacityRows()).isEqualTo(8);
    assertThatThrownBy(fixed::nextSlot).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(fixed::firstWindowToken).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void convolutionTailEndsWithTheNewestToken() {
    StateTensor tail = tensor("layer_0_conv");
    model.step(state, 1);
    int row = tail.rowStrideBytes();
    assertThat(tail.buffer().slice(0, 2 * row)).isEqualTo(ByteBuffer.allocate(2 * row));
    ByteBuffer newest = find(state.copy(), "layer_0_conv").buffer().slice(2 * row, row);

    model.step(state, 2);

    assertThat(tail.buffer().slice(row, row)).isEqualTo(newest);
  }

  @Test
  void restoreToNothingIsAReset() {
    model.prefill(state, new int[20], 0, 20);

    state.restoredTo(0);

    assertThat(state.tokens()).isZero();
    assertThat(tensor("layer_0_recurrent").buffer())
        .isEqualTo(model.newState(CAPACITY).tensors().get(0).buffer());
  }

  @Test
  void moreTokensThanCapacityCannotBeRestored() {
    assertThatThrownBy(() -> state.restoredTo(CAPACITY + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("capacity is 40");
    assertThatThrownBy(() -> state.restoredTo(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  private StateTensor tensor(String name) {
    return find(state, name);
  }

  private static StateTensor find(ModelState state, String name) {
    return state.tensors().stream().filter(t -> t.name().equals(name)).findFirst().orElseThrow();
  }
}
