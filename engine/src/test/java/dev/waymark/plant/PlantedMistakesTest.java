package dev.waymark.plant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A sample of the mistakes is found, the soonest found; {@link PlantedMistakes} has them all. */
class PlantedMistakesTest {
  static Stream<Mistake> soonFound() {
    return Stream.of(
        Mistake.ACKNOWLEDGED_AT_ONCE,
        Mistake.DATA_NOT_FORCED,
        Mistake.EDITS_NOT_FORCED,
        Mistake.NAMES_NOT_FORCED,
        Mistake.CURRENT_NOT_FORCED,
        Mistake.NOTHING_FORCED_AT_OPEN,
        Mistake.LENGTH_BELIEVED,
        Mistake.DISCARDED_ROWS_LEFT);
  }

  @ParameterizedTest
  @EnumSource
  void thePatchesFit(Mistake mistake) {
    assertThat(new PlantedEngine(mistake)).isNotNull();
  }

  @ParameterizedTest
  @MethodSource("soonFound")
  void theExplorerFinds(Mistake mistake) {
    Optional<String> found =
        new PlantedEngine(mistake).explore(1, mistake.foundWithinStates(), false);
    assertThat(found).as(mistake.what()).isPresent();
  }

  @Test
  void aPatchThatFitsNothingIsRefused() throws IOException {
    byte[] classFile;
    try (var in = Patch.class.getResourceAsStream("Patch.class")) {
      classFile = in.readAllBytes();
    }
    Patch patch = Patch.skip("plant.Patch", "apply", "noSuchCall");
    assertThatThrownBy(() -> patch.apply(classFile)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void thePageListsThem() throws IOException {
    String page = Files.readString(Path.of("../docs/reliability.md"));
    assertThat(page.lines().filter(line -> line.matches("\\| `[A-Z_]+` \\|.*")))
        .containsExactlyElementsOf(Stream.of(Mistake.values()).map(Mistake::row).toList());
  }
}
