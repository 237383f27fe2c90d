package dev.waymark.tools.report;

import dev.waymark.tools.Output;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The forest from the first token down: a cell a run, as wide as the bytes from it on, as high as
 * its tokens. Neighbours that are too narrow to be seen stand together as one cell, as high as the
 * deepest of them, so that the picture has no more cells than it has room for.
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
    int i = 0;
    while (i < runs.size()) {
      int end = i;
      double width = 0;
      while (end < runs.size() && (cells >= MOST_CELLS || width < NARROWEST)) {
        width += level.width() * Math.max(1, runs.get(end).allBytes()) / all;
        end++;
      }
      if (end == i + 1) {
        cell(runs.get(i), x, width);
        if (!runs.get(i).children().isEmpty()) {
          next.add(new Level(runs.get(i).children(), x, width));
        }
      } else {
        together(runs.subList(i, end), x, width);
      }
      x += width;
      i = end;
    }
  }

  private void cell(ForestShape.Run run, double x, double width) {
    cells++;
    rect(
        run.points() == run.boundaries() ? "all" : "run", x, width, run.fromTokens(), run.tokens());
    svg.raw(
        "<title>tokens %,d to %,d: %,d boundaries, %,d restore points, ",
        run.fromTokens(), run.tokens(), run.boundaries(), run.points());
    svg.text(Output.bytes(run.bytes())).raw("</title></rect>");
    if (run.points() == run.boundaries() || run.marks().length < run.points()) {
      return;
    }
    svg.raw("<path class='mark' d='");
    for (int mark : run.marks()) {
      svg.raw("M%.1f %.1fh%.1f", x, HEIGHT * mark / mostTokens, width);
    }
    svg.raw("'/>");
  }

  private void together(List<ForestShape.Run> runs, double x, double width) {
    cells++;
    int from = Integer.MAX_VALUE;
    int to = 0;
    long bytes = 0;
    for (ForestShape.Run run : runs) {
      from = Math.min(from, run.fromTokens());
      to = Math.max(to, deepest(run));
      bytes += run.allBytes();
    }
    rect("together", x, width, from, to);
    svg.raw("<title>%,d runs that are too narrow to be shown, ", runs.size());
    svg.text(Output.bytes(bytes)).raw("</title></rect>");
  }

  /** The last token that is stored from a run on. */
  private static int deepest(ForestShape.Run run) {
    int deepest = run.tokens();
    List<ForestShape.Run> open = new ArrayList<>(List.of(run));
    while (!open.isEmpty()) {
      ForestShape.Run at = open.remove(open.size() - 1);
      deepest = Math.max(deepest, at.tokens());
      open.addAll(at.children());
    }
    return deepest;
  }

  private void rect(String name, double x, double width, int from, int to) {
    svg.raw(
        "<rect class='%s' x='%.2f' y='%.2f' width='%.2f' height='%.2f'>",
        name, x, HEIGHT * from / mostTokens, width, Math.max(1, HEIGHT * (to - from) / mostTokens));
  }

  int cells() {
    return cells;
  }
}
