package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ColoursTest {
  @Test
  void areForTerminalsThatKnowThem() {
    assertThat(Colours.wanted(true, Map.of("TERM", "xterm"))).isTrue();
    assertThat(Colours.wanted(true, Map.of("TERM", "xterm", "NO_COLOR", ""))).isTrue();
    assertThat(Colours.wanted(false, Map.of("TERM", "xterm"))).isFalse();
    assertThat(Colours.wanted(true, Map.of("TERM", "dumb"))).isFalse();
    assertThat(Colours.wanted(true, Map.of())).isFalse();
    assertThat(Colours.wanted(true, Map.of("TERM", "xterm", "NO_COLOR", "1"))).isFalse();
  }

  @Test
  void areNeitherInHelpNorInTreesThatGoElsewhere() {
    assertThat(Run.of("--help").out()).doesNotContain("\033");
    assertThat(Run.of("tree", "--help").out()).doesNotContain("\033");
  }
}
