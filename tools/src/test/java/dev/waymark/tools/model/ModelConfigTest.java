package dev.waymark.tools.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class ModelConfigTest {
  @Test
  void builtInConfigurationsHaveEveryKindOfLayer() {
    assertThat(ModelConfig.demo().layers()).contains(LayerKind.values());
    assertThat(ModelConfig.tiny().layers()).contains(LayerKind.values());
  }

  @Test
  void vocabulariesSuitTheTokenizer() {
    assertThat(new ToyTokenizer(ModelConfig.demo().vocab()).vocab()).isEqualTo(512);
    assertThat(new ToyTokenizer(ModelConfig.tiny().vocab()).vocab()).isEqualTo(128);
  }

  @Test
  void unsupportedShapesAreRefused() {
    assertThatThrownBy(() -> ModelConfig.tiny().withLayers(List.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ModelConfig.tiny().withWindow(0, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("window");
  }
}
