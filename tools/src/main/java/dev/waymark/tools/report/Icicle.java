package dev.waymark.tools.report;

import dev.waymark.tools.Output;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The forest from the first token down: a cell a run, as wide as the bytes from it on, as high as
 * its tokens. What is too narrow to be seen stands together as one cell, so that the picture has no
 * more cells than it has room for.
 */
final class Icicle {
  static final int MOST_CELLS = 800;
  static final double WIDTH = 1_000;
  static final double HEIGHT = 400;
  private static final double NARROWEST = 2.5;

  private final ForestShape.Run root;
  private final int mostTokens;
  private final Html svg = new Html();
  private int cells;

  Icicle(ForestShape.Run root, int mostTokens) {
    this.root = root;
    this.mostTokens = Math.max(1, mostTokens);
  }

  /** Runs side by side, and the room that they have. */
  private record Level(List<ForestShape.Run> runs, double x, double width) {}

  Html svg() {
    svg.raw(
        "<svg class='icicle' viewBox='0 0 %.0f %.0f' preserveAspectRatio='none' role='img'"
            + " aria-label='the prefix forest'>",
        WIDTH, HEIGHT);
    List<Level> levels = new ArrayList<>(List.of(new Level(root.children(), 0, WIDTH)));
    for (int i = 0; i < levels.size(); i++) {
      draw(levels.get(i), levels);
    }
    return svg.raw("</svg>");
  }

  private void draw(Level level, List<Level> next) {
    List<ForestShape.Run> runs = new ArrayList<>(level.runs());
    runs.sort(Comparator.comparingLong(ForestShape.Run::allBytes).reversed());
    double all = runs.stream().mapToDouble(run -> Math.max(1, run.allBytes())).sum();
    double x = level.x();
    for (int i = 0; i < runs.size(); i++) {
      ForestShape.Run run = runs.get(i);
      double width = level.width() * Math.max(1, run.allBytes()) / all;
      if (cells >= MOST_CELLS || width < NARROWEST && i < runs.size() - 1) {
        together(runs.subList(i, runs.size()), x, level.x() + level.width() - x);
        return;
      }
      cell(run, x, width);
      if (!run.children().isEmpty()) {
        next.add(new Level(run.children(), x, width));
      }
      x += width;
    }
  }

  private void cell(ForestShape.Run run, double x, double width) {
    cells++;
    double share = run.boundaries() == 0 ? 0 : (double) run.points() / run.boundaries();
    String depth = run.points() == 0 ? "rows" : share < 0.25 ? "few" : share < 0.75 ? "some" : "many";
    rect(depth, x, width, run.fromTokens(), run.tokens());
    svg.raw(
        "<title>tokens %,d to %,d: %,d boundaries, %,d restore points, ",
        run.fromTokens(), run.tokens(), run.boundaries(), run.points());
    svg.text(Output.bytes(run.bytes())).raw("</title></rect>");
  }

  private void together(List<ForestShape.Run> runs, double x, double width) {
    cells++;
    int from = Integer.MAX_VALUE;
    int to = 0;
    long bytes = 0;
    for (ForestShape.Run run : runs) {
      from = Math.min(from, run.fromTokens());
      to = Math.max(to, run.tokens());
      bytes += run.allBytes();
    }
    rect("together", x, width, from, to);
    svg.raw("<title>%,d runs that are too narrow to be shown, ", runs.size());
    svg.text(Output.bytes(bytes)).raw("</title></rect>");
  }

  private void rect(String name, double x, double width, int from, int to) {
    svg.raw(
        "<rect class='%s' x='%.2f' y='%.2f' width='%.2f' height='%.2f'>",
        name,
        x,
        HEIGHT * from / mostTokens,
        width,
        Math.max(1, HEIGHT * (to - from) / mostTokens));
  }

  int cells() {
    return cells;
  }
}
