package dev.waymark.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreInspector.SegmentReport;
import dev.waymark.StoreReader;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportCommandTest {
  @TempDir Path dir;

  private String page(Path store) throws IOException {
    Path file = dir.resolve("page.html");
    Run run = Run.of("report", store, "--html", file);
    assertThat(run.exitCode()).as(run.err()).isZero();
    return Files.readString(file);
  }

  @Test
  void thePageShowsTheStoreAndNeedsNothingFromElsewhere() throws Exception {
    Path store = ToyStore.make(dir.resolve("store"), 5);

    String page = page(store);

    assertThat(page)
        .contains(
            "Where the bytes are",
            "The prefix forest",
            "what bundles would have taken",
            "Between restore points",
            "Out of the store",
            "append-1",
            "width=device-width",
            "prefers-color-scheme: dark")
        .doesNotContain("<script", "@import", "url(", "http://", "https://", "<img", "<link");
    Matcher svg = Pattern.compile("<svg.*?</svg>", Pattern.DOTALL).matcher(page);
    int pictures = 0;
    while (svg.find()) {
      DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(new java.io.ByteArrayInputStream(svg.group().getBytes("UTF-8")));
      assertThat(svg.group()).doesNotContain("NaN", "Infinity");
      pictures++;
    }
    assertThat(pictures).isGreaterThan(5);
  }

  @Test
  void nothingInItNamesTokensOrKeys() throws IOException {
    Path store = ToyStore.make(dir.resolve("store"), 3);
    String page = page(store);
    try (StoreReader reader = StoreReader.open(store)) {
      reader.forEachBoundary(
          boundary -> assertThat(page).doesNotContain(boundary.key().abbreviated()));
    }
  }

  @Test
  void whatAModelIsCalledIsTextAndNoMarkup() throws IOException {
    Path store = dir.resolve("store");
    try (SnapshotStore opened = ToyStore.open(store)) {
      opened.namespace(
          ModelIdentity.builder().weights("<script>alert('%s')</script>&\u0007").build(),
          Layout.of(4, TensorSpec.rows("k", DType.U8, 1, TensorSpec.TOKEN_AXIS)));
    }
    assertThat(page(store))
        .contains("&lt;script&gt;alert(&#39;%s&#39;)&lt;/script&gt;&amp; ")
        .contains("Nothing is stored.")
        .doesNotContain("<script");
  }

  @Test
  void theLiveWriterIsNotInTheWay() throws IOException {
    Path store = dir.resolve("store");
    try (SnapshotStore opened = ToyStore.open(store)) {
      ToyStore.serve(opened, 1, 100);
      opened.flush();
      assertThat(page(store)).contains("Not closed");
    }
    assertThat(page(store)).contains("Closed cleanly");
  }

  @Test
  void usageAndMissingStoresHaveTheirExitCodes() {
    assertThat(Run.of("report", dir).exitCode()).isEqualTo(2);
    assertThat(Run.of("report", dir, "--html", dir.resolve("p")).exitCode()).isEqualTo(1);
    assertThat(dir.resolve("p")).doesNotExist();
  }

  private static Boundary boundary(int from, int to, boolean point, boolean branch, long millis) {
    BoundaryKey key = new BoundaryKey(from, to, millis, 0);
    return new Boundary(1, key, key, from, to, point, branch, false, false, to, 100, millis);
  }

  @Test
  void aVastForestIsAPictureOfAFewCells() {
    ForestShape shape = new ForestShape();
    for (int chain = 0; chain < 30_000; chain++) {
      shape.add(boundary(0, 8, false, true, 0));
      for (int branch = 0; branch < 2; branch++) {
        shape.add(boundary(8, 16, true, false, 0));
        shape.add(boundary(16, 24, false, false, 0));
      }
    }

    Icicle icicle = new Icicle(shape.finish(), shape.mostTokens());

    assertThat(icicle.svg().toString().length()).isLessThan(200_000);
    assertThat(icicle.cells()).isBetween(100, 2 * Icicle.MOST_CELLS);
  }

  @Test
  void aDeepForestIsAPictureOfAFewCellsToo() {
    ForestShape shape = new ForestShape();
    List<Boundary> later = new ArrayList<>();
    for (int at = 0; at < 20_000; at++) {
      shape.add(boundary(at, at + 1, false, true, 0));
      later.add(0, boundary(at + 1, at + 2, true, false, 0));
    }
    later.forEach(shape::add);

    Icicle icicle = new Icicle(shape.finish(), shape.mostTokens());

    icicle.svg();
    assertThat(icicle.cells()).isBetween(2, 2 * Icicle.MOST_CELLS);
  }

  @Test
  void runsEndAtBranches() {
    ForestShape shape = new ForestShape();
    shape.add(boundary(0, 4, false, false, 0));
    shape.add(boundary(4, 8, true, true, 0));
    shape.add(boundary(8, 12, true, false, 0));
    shape.add(boundary(12, 16, false, false, 0));
    shape.add(boundary(8, 12, false, false, 0));
    shape.add(boundary(0, 4, true, false, 0));

    ForestShape.Run root = shape.finish();

    assertThat(root.children()).hasSize(2);
    ForestShape.Run first = root.children().get(0);
    assertThat(first.tokens()).isEqualTo(8);
    assertThat(first.boundaries()).isEqualTo(2);
    assertThat(first.marks()).containsExactly(8);
    assertThat(first.allBytes()).isEqualTo(500);
    assertThat(first.children()).hasSize(2);
    assertThat(first.children().get(0).tokens()).isEqualTo(16);
    assertThat(root.children().get(1).points()).isEqualTo(1);
  }

  @Test
  void spacingIsCountedFromThePointAbove() {
    PointSpacing spacing = new PointSpacing(Map.of(1, 4));
    spacing.add(boundary(0, 4, true, false, 0));
    spacing.add(boundary(4, 8, false, true, 0));
    spacing.add(boundary(8, 12, true, false, 0));
    spacing.add(boundary(8, 12, false, false, 0));
    spacing.add(boundary(12, 16, true, false, 0));

    String html = spacing.html().toString();

    // One block once, two blocks once, three blocks once.
    assertThat(html).contains("1 block<", "2 blocks<", "3 to 4 blocks<");
    assertThat(html.split(">1</span>", -1)).hasSize(4);
  }

  @Test
  void manySegmentsShareStrips() {
    List<SegmentReport> segments = new ArrayList<>();
    for (int i = 1; i <= 1_000; i++) {
      segments.add(
          new SegmentReport(i, "append-" + i + ".seg", "append", true, 1, 10, 10, 4, 3, 2, 1, 0));
    }
    SegmentStrips strips = new SegmentStrips(segments);
    assertThat(strips.count()).isLessThanOrEqualTo(SegmentStrips.MOST_STRIPS);
    assertThat(strips.html().toString()).contains("append-1 and 20 more");
  }

  @Test
  void whatCameOverDaysIsShownByTime() {
    WrittenOverTime.Span span = new WrittenOverTime.Span();
    List<Boundary> boundaries = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      boundaries.add(boundary(0, 4, false, false, i * 86_400_000L));
    }
    boundaries.forEach(span::add);
    Layout layout = Layout.of(4, TensorSpec.rows("k", DType.U8, 1, TensorSpec.TOKEN_AXIS));
    WrittenOverTime written =
        new WrittenOverTime(
            List.of(
                new StoreReader.NamespaceContent(
                    1, null, null, ModelIdentity.of(Map.of()), layout, null)),
            span,
            boundaries.size());
    boundaries.forEach(written::add);

    assertThat(written.isByTime()).isTrue();
    assertThat(written.stored()[0]).isEqualTo(100);
    assertThat(written.stored()[WrittenOverTime.BUCKETS - 1]).isEqualTo(1_000);
    assertThat(written.bundled()[WrittenOverTime.BUCKETS - 1]).isEqualTo(40);
    assertThat(new GrowthChart(written).html().toString()).contains("1970-01-10 00:00 UTC");
  }
}
