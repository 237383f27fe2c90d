package dev.waymark.tools.replay;

import static dev.waymark.layout.TensorSpec.TOKEN_AXIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.DType;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LayoutScalerTest {

  private static ScaledLayout scaled(LayoutCatalog.Entry entry, int blockTokens, int factor) {
    return LayoutScaler.scale(LayoutCatalog.layout(entry, blockTokens), factor);
  }

  @Test
  void slidingWindowsBy1024KeepEveryLayer() {
    ScaledLayout scaled = scaled(LayoutCatalog.Entry.L4, 64, 1_024);
    Layout layout = scaled.layout();
    assertThat(scaled.achievedFactor()).isEqualTo(1_024);
    assertThat(layout.tensors()).hasSize(120);
    assertThat(layout.tensors())
        .allSatisfy(spec -> assertThat(spec.shape()).containsExactly(4L, TOKEN_AXIS, 1L));
    assertThat(layout.rowBytes(0, 1)).isEqualTo(160);
    assertThat(layout.windowBytes(0, 1)).isEqualTo(800);
    assertThat(layout.maxWindowTokens()).isEqualTo(1_024);
    assertThat(39_598 * (layout.rowBytes(64, 128) + layout.windowBytes(64, 128)))
        .isEqualTo(2_432_901_120L);
  }

  @Test
  void whatDimsCannotGiveTheLayersGive() {
    ScaledLayout scaled = scaled(LayoutCatalog.Entry.L3, 512, 1_024);
    Layout layout = scaled.layout();
    assertThat(layout.rowBytes(0, 1)).isEqualTo(20);
    assertThat(layout.fixedBytes()).isEqualTo(30 * (32 * 16 * 4 + 3 * 8 * 2));
    assertThat(layout.tensors().stream().filter(spec -> !spec.isFixed())).hasSize(10);
    assertThat(scaled.achievedFactor()).isEqualTo(1_024);
  }

  @Test
  void scaleOneChangesNothing() {
    ScaledLayout scaled = scaled(LayoutCatalog.Entry.L8, 64, 1);
    assertThat(scaled.layout()).isEqualTo(scaled.full());
    assertThat(scaled.achievedFactor()).isEqualTo(1);
    assertThatThrownBy(() -> LayoutScaler.scale(scaled.full(), 0))
        .isInstanceOf(InvalidSettingException.class);
  }

  @ParameterizedTest
  @EnumSource(LayoutCatalog.Entry.class)
  void everyKindKeepsALayerAndItsGrowth(LayoutCatalog.Entry entry) {
    ScaledLayout scaled = scaled(entry, 64, Integer.MAX_VALUE);
    assertThat(scaled.layout().tensors()).isNotEmpty();
    assertThat(growths(scaled.layout())).isEqualTo(growths(scaled.full()));
    assertThat(scaled.layout().tensors())
        .allSatisfy(spec -> assertThat(spec.bytesOfRows(1)).isEqualTo(spec.dtype().sizeBytes()));
    assertThat(scaled.summary()).contains("2,147,483,647 asked");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 8, 10, 64, 100, 1_000})
  void comesCloseToWhatIsAsked(int factor) {
    for (LayoutCatalog.Entry entry : LayoutCatalog.Entry.values()) {
      double achieved = scaled(entry, 64, factor).achievedFactor();
      // L8 has no more than 128 elements a row and 8 layers of a kind.
      assertThat(achieved).as("%s", entry).isBetween(factor * 0.7, factor * 1.4);
    }
  }

  @Test
  void tensorsWithoutANumberAreLayersOfTheirOwn() {
    Layout full =
        Layout.of(
            16,
            List.of(
                TensorSpec.rows("keys", DType.BF16, 1, 8, TOKEN_AXIS, 64),
                TensorSpec.rows("values", DType.BF16, 1, 8, TOKEN_AXIS, 64),
                TensorSpec.fixed("empty", DType.F32, 0, 4),
                TensorSpec.fixed("scalar", DType.F32)));
    Layout layout = LayoutScaler.scale(full, 4_096).layout();
    assertThat(layout.tensors())
        .extracting(TensorSpec::name)
        .containsExactly("keys", "values", "empty", "scalar");
    assertThat(layout.rowBytes(0, 1)).isEqualTo(4);
    assertThat(layout.fixedBytes()).isEqualTo(4);
  }

  private static List<Growth> growths(Layout layout) {
    return layout.tensors().stream()
        .map(TensorSpec::growth)
        .distinct()
        .sorted(Comparator.comparing(Growth::toString))
        .toList();
  }
}
