package dev.waymark.tools.forest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.StoreInspector.BoundaryReport;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StretchesTest {
  private final List<Stretch> stretches = new ArrayList<>();

  @Test
  void aChainIsCutWhereARestoreCanLand() {
    Stretches cut = cut(1, Integer.MAX_VALUE, false);
    cut.add(boundary(16, false, 1));
    cut.add(boundary(32, true, 1));
    cut.add(boundary(48, false, 1));
    cut.add(boundary(64, false, 0));

    assertThat(shapes()).containsExactly("0 first 0-32 point", "0 32-64");
    assertThat(stretches.get(1).blocks()).isEqualTo(2);
    assertThat(stretches.get(1).rowBytes()).isEqualTo(200);
  }

  @Test
  void chainsThatPartAreALevelDeeperAndCloseOneAfterTheOther() {
    Stretches cut = cut(2, Integer.MAX_VALUE, false);
    cut.add(boundary(16, false, 1));
    cut.add(boundary(32, false, 2));
    cut.add(boundary(48, false, 2)); // parts again
    cut.add(boundary(64, false, 0));
    cut.add(boundary(64, true, 0));
    cut.add(boundary(48, true, 0));
    cut.add(boundary(16, false, 0)); // the second first block

    assertThat(shapes())
        .containsExactly(
            "0 first 0-32 parts more:0",
            "1 first 32-48 parts more:01",
            "2 first 48-64 more:012",
            "2 first 48-64 point more:01",
            "1 first 32-48 point more:0",
            "0 first 0-16");
  }

  @Test
  void nothingBeyondTheDepthIsShownAndWhatStandsAboveItStaysRight() {
    Stretches cut = cut(2, 32, false);
    cut.add(boundary(16, false, 1));
    cut.add(boundary(32, false, 1));
    cut.add(boundary(48, false, 2));
    cut.add(boundary(64, true, 0));
    cut.add(boundary(64, true, 0));
    cut.add(boundary(16, true, 0));

    assertThat(shapes()).containsExactly("0 first 0-32 more:0", "0 first 0-16 point");
  }

  @Test
  void eachBoundaryIsALineWhereThatIsAskedFor() {
    Stretches cut = cut(1, Integer.MAX_VALUE, true);
    cut.add(boundary(16, false, 1));
    cut.add(boundary(32, false, 0));

    assertThat(shapes()).containsExactly("0 first 0-16", "0 16-32");
  }

  private Stretches cut(int rootChildren, int depthTokens, boolean each) {
    return new Stretches(rootChildren, 16, depthTokens, each, stretches::add);
  }

  private List<String> shapes() {
    List<String> shapes = new ArrayList<>();
    for (Stretch stretch : stretches) {
      StringBuilder more = new StringBuilder();
      for (int level = 0; level <= stretch.level(); level++) {
        more.append(stretch.open()[level] ? String.valueOf(level) : "");
      }
      shapes.add(
          stretch.level()
              + (stretch.isFirst() ? " first " : " ")
              + stretch.fromTokens()
              + "-"
              + stretch.tokens()
              + (stretch.isPoint() ? " point" : "")
              + (stretch.children() > 1 ? " parts" : "")
              + (more.isEmpty() ? "" : " more:" + more));
    }
    return shapes;
  }

  private static BoundaryReport boundary(int tokens, boolean isPoint, int children) {
    return new BoundaryReport(
        1, "0a0b0c0d", "00000000", tokens, isPoint, children > 1, children, 100, 0, 0);
  }
}
