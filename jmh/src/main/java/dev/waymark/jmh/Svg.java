package dev.waymark.jmh;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Plots, as plain as can be; readable on light and dark pages. */
final class Svg {
  private static final int LEFT = 60;
  private static final int TOP = 44;
  private static final int PLOT_WIDTH = 330;
  private static final int PLOT_HEIGHT = 250;
  private static final int CURVE_WIDTH = LEFT + PLOT_WIDTH + 170;
  private static final int CURVE_HEIGHT = TOP + PLOT_HEIGHT + 56;
  private static final int COLUMNS = 2;
  private static final int LABELS = 620;
  private static final List<String> COLOURS =
      List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a");

  private final StringBuilder out = new StringBuilder();

  private Svg(int width, int height) {
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
            + " font-size=\"12\">%n",
        width, height);
    add("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n", width, height);
  }

  /** Both axes logarithmic; two plots side by side. */
  static String curves(List<Report.Curve> curves) {
    int columns = Math.min(COLUMNS, curves.size());
    int rows = (curves.size() + columns - 1) / columns;
    Svg svg = new Svg(columns * CURVE_WIDTH, rows * CURVE_HEIGHT);
    for (int i = 0; i < curves.size(); i++) {
      svg.add(
          "<g transform=\"translate(%d %d)\">%n",
          i % columns * CURVE_WIDTH, i / columns * CURVE_HEIGHT);
      svg.curve(curves.get(i));
      svg.add("</g>%n");
    }
    return svg.end();
  }

  /** Ratios to goals: a line from the least to the most, a mark at the median. */
  static String ratios(List<Render.Reached> all) {
    int left = LABELS;
    int width = PLOT_WIDTH;
    Svg svg = new Svg(left + width + 30, TOP + 22 * all.size() + 40);
    svg.text(left, 20, "start", "over the goal (line): left of it is not reached", 12);
    Axis axis = new Axis(0.25, 4, left, left + width);
    for (int i = 0; i < all.size(); i++) {
      Render.Reached row = all.get(i);
      double y = TOP + 22 * i + 10;
      svg.text(left - 8, y + 4, "end", row.label(), 11);
      double least = axis.at(row.overGoal(0));
      double most = axis.at(row.overGoal(row.ratios().length - 1));
      String colour = row.isReached() ? COLOURS.get(0) : COLOURS.get(1);
      svg.line(least, y, most, y, colour, 2);
      svg.add(
          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>%n",
          axis.at(row.overGoal(row.ratios().length / 2)), y, colour);
    }
    double bottom = TOP + 22.0 * all.size();
    for (double tick : new double[] {0.25, 0.5, 1, 2, 4}) {
      svg.line(axis.at(tick), TOP - 8, axis.at(tick), bottom, tick == 1 ? "#333333" : "#dddddd", 1);
      svg.text(axis.at(tick), bottom + 16, "middle", Double.toString(tick).replace(".0", ""), 11);
    }
    return svg.end();
  }

  private record Axis(double from, double to, double low, double high) {
    double at(double value) {
      double part = (Math.log(value) - Math.log(from)) / (Math.log(to) - Math.log(from));
      return low + Math.max(0, Math.min(1, part)) * (high - low);
    }
  }

  private void curve(Report.Curve curve) {
    Axis across = axis(curve, 0, LEFT, LEFT + PLOT_WIDTH);
    Axis up = axis(curve, 1, TOP + PLOT_HEIGHT, TOP);
    text(LEFT, 20, "start", curve.name(), 14);
    double[] places =
        curve.lines().values().stream()
            .flatMap(List::stream)
            .mapToDouble(point -> point[0])
            .distinct()
            .toArray();
    for (double tick : places) {
      line(across.at(tick), TOP, across.at(tick), TOP + PLOT_HEIGHT, "#dddddd", 1);
      text(across.at(tick), TOP + PLOT_HEIGHT + 16, "middle", number(tick), 11);
    }
    for (double tick = decade(up.from()); tick <= up.to() * 1.001; tick *= 10) {
      for (double each : new double[] {tick, 2 * tick, 5 * tick}) {
        boolean few = up.to() < 100 * up.from();
        if (each >= up.from() && each <= up.to() && (few || each == tick)) {
          line(LEFT, up.at(each), LEFT + PLOT_WIDTH, up.at(each), "#dddddd", 1);
          text(LEFT - 6, up.at(each) + 4, "end", number(each), 11);
        }
      }
    }
    text(LEFT + PLOT_WIDTH / 2.0, TOP + PLOT_HEIGHT + 36, "middle", curve.x(), 12);
    text(LEFT, TOP - 6, "start", curve.y(), 11);
    int index = 0;
    for (Map.Entry<String, List<double[]>> each : curve.lines().entrySet()) {
      String colour = COLOURS.get(index % COLOURS.size());
      StringBuilder points = new StringBuilder();
      for (double[] point : each.getValue()) {
        points.append(
            String.format(Locale.ROOT, "%.1f,%.1f ", across.at(point[0]), up.at(point[1])));
      }
      add(
          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>%n",
          points.toString().strip(),
          colour,
          each.getKey().contains("calculated") ? " stroke-dasharray=\"6 4\"" : "");
      double y = TOP + 12 + 18.0 * index;
      line(LEFT + PLOT_WIDTH + 14, y - 4, LEFT + PLOT_WIDTH + 34, y - 4, colour, 2);
      text(LEFT + PLOT_WIDTH + 40, y, "start", each.getKey(), 11);
      index++;
    }
  }

  private static Axis axis(Report.Curve curve, int which, double low, double high) {
    double least = Double.MAX_VALUE;
    double most = 0;
    for (List<double[]> points : curve.lines().values()) {
      for (double[] point : points) {
        least = Math.min(least, point[which]);
        most = Math.max(most, point[which]);
      }
    }
    return new Axis(least / 1.2, most * 1.2, low, high);
  }

  private static double decade(double value) {
    return Math.pow(10, Math.floor(Math.log10(value)));
  }

  private static String number(double value) {
    if (value >= 1e6) {
      return String.format(Locale.ROOT, "%.0fM", value / 1e6);
    }
    if (value >= 1e3) {
      return String.format(Locale.ROOT, "%.0fk", value / 1e3);
    }
    return new BigDecimal(value).round(new MathContext(1)).stripTrailingZeros().toPlainString();
  }

  private void line(double x1, double y1, double x2, double y2, String colour, int width) {
    add(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\""
            + " stroke-width=\"%d\"/>%n",
        x1, y1, x2, y2, colour, width);
  }

  private void text(double x, double y, String anchor, String text, int size) {
    add(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"#222222\">%s</text>%n",
        x, y, anchor, size, text.replace("&", "&amp;").replace("<", "&lt;"));
  }

  private void add(String format, Object... arguments) {
    out.append(String.format(Locale.ROOT, format, arguments));
  }

  private String end() {
    return out.append("</svg>\n").toString();
  }
}
