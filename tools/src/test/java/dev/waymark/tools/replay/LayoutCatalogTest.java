package dev.waymark.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LayoutCatalogTest {

  @ParameterizedTest
  @CsvSource({
    // name, tensors, rows B/token, window tokens, window B/token, whole window B, fixed B
    "L1, 128,  65536,    0,      0,         0, 153944064",
    "L2,  96,  24576,    0,      0,         0, 115458048",
    "L3,  80,  20480,    0,      0,         0,  64389120",
    "L4, 120, 163840, 1024, 819200, 838860800,         0",
    "L5,  40, 163840,    0,      0,         0,         0",
    "L6, 162,  27648,    0,      0,         0, 449372160",
    "L7,  96,  49152,  512, 147456,  75497472,         0",
    "L8,  80,   1056,  640,   8192,   5242880,      8192",
    "L9,  38,  16384,    0,      0,         0,    180224",
  })
  void holdsWhatTheTableSays(
      String name,
      int tensors,
      double rowBytesPerToken,
      int windowTokens,
      double windowBytesPerToken,
      long windowBytes,
      long fixedBytes) {
    Layout layout = LayoutCatalog.layout(LayoutCatalog.entry(name), 2_048);
    assertThat(layout.blockTokens()).isEqualTo(2_048);
    assertThat(layout.tensors()).hasSize(tensors);
    assertThat(ScaledLayout.rowBytesPerToken(layout)).isEqualTo(rowBytesPerToken);
    assertThat(layout.rowBytes(0, 2_048)).isEqualTo((long) (2_048 * rowBytesPerToken));
    assertThat(layout.maxWindowTokens()).isEqualTo(windowTokens);
    assertThat(layout.maxSinkTokens()).isZero();
    assertThat(ScaledLayout.windowBytesPerToken(layout)).isEqualTo(windowBytesPerToken);
    assertThat(layout.windowBytes(0, 2_048)).isEqualTo(windowBytes);
    assertThat(layout.fixedBytes()).isEqualTo(fixedBytes);
    assertThat(Layout.ofJson(layout.toJson())).isEqualTo(layout);
  }

  @Test
  void layersAreNumberedInOrderAndKindsAlternate() {
    Layout layout = LayoutCatalog.layout(LayoutCatalog.Entry.L4, 64);
    int lastLayer = -1;
    int rowLayers = 0;
    for (TensorSpec spec : layout.tensors()) {
      assertThat(spec.name()).matches("layer_\\d+_(keys|values)");
      int layer = Integer.parseInt(spec.name().replaceAll("\\D", ""));
      assertThat(layer).isBetween(lastLayer, lastLayer + 1);
      lastLayer = layer;
      if (spec.growth() instanceof Growth.Rows) {
        rowLayers++;
        assertThat(rowLayers).isBetween(layer / 6 * 2, layer / 6 * 2 + 2);
      }
    }
    assertThat(lastLayer).isEqualTo(59);
    assertThat(rowLayers).isEqualTo(20);
  }

  @Test
  void otherNamesAreRefused() {
    assertThat(LayoutCatalog.entry("l7")).isEqualTo(LayoutCatalog.Entry.L7);
    assertThatThrownBy(() -> LayoutCatalog.entry("L10"))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("L1 to L9");
  }
}
