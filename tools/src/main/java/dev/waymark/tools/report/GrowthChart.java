package dev.waymark.tools.report;

import dev.waymark.tools.Output;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Two lines on a scale of powers: what is stored, and what bundles would have taken. */
final class GrowthChart {
  private static final double WIDTH = 1_000;
  private static final double HEIGHT = 300;
  private static final int LEAST_POWER = 10;

  private final WrittenOverTime written;
  private final double[] stored;
  private final double[] bundled;
  private int low;
  private int high;

  GrowthChart(WrittenOverTime written) {
    this.written = written;
    this.stored = written.stored();
    this.bundled = written.bundled();
    scale();
  }

  /** Powers of two between which both lines lie. */
  private void scale() {
    double most = Math.max(stored[stored.length - 1], bundled[bundled.length - 1]);
    double least = most;
    for (double value : stored) {
      least = value > 0 ? Math.min(least, value) : least;
    }
    high = Math.max(LEAST_POWER + 1, power(most) + 1);
    low = Math.max(0, Math.min(power(least), high - 1));
  }

  private static int power(double value) {
    return value < 1 ? 0 : Math.getExponent(value);
  }

  Html html() {
    double last = stored[stored.length - 1];
    double bundles = bundled[bundled.length - 1];
    Html html = new Html();
    html.raw("<p class='legend'><span><i class='stored'></i>stored here, ");
    html.text(Output.bytes((long) last)).raw("</span> <span><i class='bundled'></i>bundles, ");
    html.text(Output.bytes((long) bundles));
    if (last > 0) {
      html.raw(", %.1f times as much", bundles / last);
    }
    html.raw("</span></p><div class='chart'>");
    grid(html);
    html.raw(
        "<svg viewBox='0 0 %.0f %.0f' preserveAspectRatio='none' role='img'"
            + " aria-label='bytes written over time'>",
        WIDTH, HEIGHT);
    lines(html);
    line(html, "bundled", bundled);
    line(html, "stored", stored);
    html.raw("</svg></div>");
    html.raw("<p class='axis'><span>").text(start()).raw("</span><span>").text(end());
    return html.raw("</span></p>");
  }

  private int step() {
    return Math.max(1, (high - low + 4) / 5);
  }

  /** Labels are no part of the picture, which is drawn out to any width. */
  private void grid(Html html) {
    for (int power = low; power <= high; power += step()) {
      html.raw("<span class='tick' style='top:%.1f%%'>", 100 * y(Math.scalb(1.0, power)) / HEIGHT);
      html.text(Output.bytes((long) Math.scalb(1.0, power)).replace(".0 ", " ")).raw("</span>");
    }
  }

  private void lines(Html html) {
    for (int power = low; power <= high; power += step()) {
      double y = y(Math.scalb(1.0, power));
      html.raw("<path class='grid' d='M0 %.1fH%.0f'/>", y, WIDTH);
    }
  }

  private void line(Html html, String name, double[] values) {
    html.raw("<path class='line %s' d='", name);
    boolean begun = false;
    for (int i = 0; i < values.length; i++) {
      if (values[i] > 0) {
        html.raw("%s%.1f %.1f", begun ? "L" : "M", WIDTH * i / (values.length - 1), y(values[i]));
        begun = true;
      }
    }
    html.raw("'/>");
  }

  private double y(double value) {
    double log = Math.log(Math.max(1, value)) / Math.log(2);
    return HEIGHT * (1 - (log - low) / (high - low));
  }

  private String start() {
    return written.isByTime() ? time(written.firstMillis()) : "first boundary";
  }

  private String end() {
    return written.isByTime() ? time(written.lastMillis()) : "last, in the order of the chains";
  }

  private static String time(long millis) {
    return DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'")
        .withZone(ZoneOffset.UTC)
        .format(Instant.ofEpochMilli(millis));
  }
}
