package dev.waymark.jmh;

import dev.waymark.jmh.Report.Goal;
import dev.waymark.jmh.Report.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Makes a page and its plots of a report. Nothing stands there that is not in the report. */
final class Render {
  private static final String GROWTH = "growth";

  private final Report report;
  private final StringBuilder page = new StringBuilder();

  /**
   * What a goal came to.
   *
   * @param label the row and the pair
   * @param goal what was to be reached
   * @param ratios or figures, in order of size
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Reached(String label, Goal goal, double[] ratios) {
    double median() {
      return ratios[ratios.length / 2];
    }

    boolean isReached() {
      return goal.isReached(median());
    }

    /** 1 where it is just reached, more where it is better. */
    double overGoal(int place) {
      return goal.atLeast() ? ratios[place] / goal.value() : goal.value() / ratios[place];
    }
  }

  private Render(Report report) {
    this.report = report;
  }

  static void write(Report report, Path docs) throws IOException {
    Render render = new Render(report);
    List<Reached> goals = goals(report.rows());
    List<Report.Curve> growth = new ArrayList<>();
    List<Report.Curve> others = new ArrayList<>();
    report.curves().forEach(c -> (c.subject().equals(GROWTH) ? growth : others).add(c));
    Path plots = Files.createDirectories(docs);
    if (!goals.isEmpty()) {
      Files.writeString(plots.resolve("performance-goals.svg"), Svg.ratios(goals));
    }
    if (!growth.isEmpty()) {
      Files.writeString(plots.resolve("growth.svg"), Svg.curves(growth));
    }
    if (!others.isEmpty()) {
      Files.writeString(plots.resolve("performance-scale.svg"), Svg.curves(others));
    }
    render.page(goals, growth, others);
    Files.writeString(docs.resolve("performance.md"), render.page);
  }

  /** One line for the terminal. */
  static String line(Row row) {
    StringBuilder line = new StringBuilder(row.subject() + ", " + row.name() + ":");
    for (String name : row.series().keySet()) {
      double[] sorted = row.sorted(name);
      line.append(" | ").append(name).append(' ').append(number(sorted[sorted.length / 2]));
    }
    line.append(' ').append(row.unit());
    String first = row.series().keySet().iterator().next();
    for (String other : row.series().keySet()) {
      if (row.goals().isEmpty() && !other.equals(first) && row.series().get(first).length > 1) {
        line.append("\n    over ").append(other).append(": ");
        line.append(spread(row.ratios(first, other)));
      }
    }
    for (Reached reached : goals(List.of(row))) {
      line.append("\n    ").append(reached.label()).append(": ").append(spread(reached.ratios()));
      line.append(" (goal ").append(bound(reached.goal())).append(')');
    }
    return line.toString();
  }

  private static List<Reached> goals(List<Row> rows) {
    List<Reached> all = new ArrayList<>();
    for (Row row : rows) {
      for (Goal goal : row.goals()) {
        if (goal.against().isEmpty()) {
          all.add(
              new Reached(
                  row.subject() + ", " + row.name() + ": " + goal.of() + ", " + row.unit(),
                  goal,
                  row.sorted(goal.of())));
          continue;
        }
        // The best of the others, or the one against whom it looks worst.
        goal.against().stream()
            .filter(other -> row.ratios(goal.of(), other).length > 0)
            .map(
                other ->
                    new Reached(
                        row.subject() + ", " + row.name() + ": " + goal.of() + " / " + other,
                        goal,
                        row.ratios(goal.of(), other)))
            .min(
                Comparator.comparingDouble(
                    reached -> goal.atLeast() ? reached.median() : -reached.median()))
            .ifPresent(all::add);
      }
    }
    return all;
  }

  private void page(List<Reached> goals, List<Report.Curve> growth, List<Report.Curve> others) {
    add("# Performance");
    add("");
    add(
        "Made by `jmh/bench --render` of what `jmh/bench` measured (form: %s) on %s; nothing here is"
            + " typed in. Contenders took turns in an order shuffled anew for each round; a ratio is"
            + " taken within a round, and of all rounds stand the least / the median / the most."
            + " Absolute figures are medians, and tell of this machine only. Appends end when all is"
            + " durable, restores are verified. How each is measured, and what its limit is, is in"
            + " the classes of [jmh](../jmh/src/main/java/dev/waymark/jmh). What is written again at"
            + " the quota is in [space.md](space.md).",
        report.form().toLowerCase(Locale.ROOT), report.date());
    add("");
    add("| | |");
    add("|---|---|");
    report.machine().forEach((label, value) -> add("| %s | %s |", label, value));
    report.versions().forEach((label, value) -> add("| %s | %s |", label, value));
    add("");
    if (!goals.isEmpty()) {
      add("## Goals");
      add("");
      add("![Ratios over their goals](performance-goals.svg)");
      add("");
      add("| what | min / median / max | goal | |");
      add("|---|---|---|---|");
      for (Reached each : goals) {
        add(
            "| %s | %s | %s | %s |",
            each.label(),
            spread(each.ratios()),
            bound(each.goal()),
            each.isReached() ? "reached" : "**not reached**");
      }
      add("");
      if (!goals.stream().allMatch(Reached::isReached)) {
        add(
            "What is in the way of the others says [performance-limits.md](performance-limits.md).");
        add("");
      }
    }
    Map<String, List<Row>> subjects = new LinkedHashMap<>();
    report
        .rows()
        .forEach(r -> subjects.computeIfAbsent(r.subject(), s -> new ArrayList<>()).add(r));
    subjects.forEach(this::subject);
    plots("Growth, as curves", "growth.svg", growth);
    plots("Scale, as curves", "performance-scale.svg", others);
  }

  private void subject(String subject, List<Row> rows) {
    add("## %s", subject.substring(0, 1).toUpperCase(Locale.ROOT) + subject.substring(1));
    for (Row row : rows) {
      String first = row.series().keySet().iterator().next();
      // Of figures by themselves, one each, there are no rounds to compare.
      boolean alone = row.series().size() == 1 || row.series().get(first).length == 1;
      add("");
      add("%s%s", row.name(), row.note().isEmpty() ? "" : " (" + row.note() + ")");
      add("");
      add("| | %s%s |", row.unit(), alone ? "" : " | " + first + " over it");
      add("|---|---|%s", alone ? "" : "---|");
      for (String name : row.series().keySet()) {
        double[] sorted = row.sorted(name);
        add(
            "| %s | %s%s |",
            name,
            alone && sorted.length > 1 ? spread(sorted) : number(sorted[sorted.length / 2]),
            alone ? "" : " | " + (name.equals(first) ? "" : spread(row.ratios(first, name))));
      }
    }
    add("");
  }

  private void plots(String title, String file, List<Report.Curve> curves) {
    if (curves.isEmpty()) {
      return;
    }
    add("## %s", title);
    add("");
    add("![%s](%s)", title, file);
    for (Report.Curve curve : curves) {
      add("");
      add("%s%s", curve.name(), curve.note().isEmpty() ? "" : ": " + curve.note());
    }
    add("");
  }

  private static String bound(Goal goal) {
    return (goal.atLeast() ? "≥ " : "≤ ") + number(goal.value());
  }

  private static String spread(double[] sorted) {
    return number(sorted[0])
        + " / "
        + number(sorted[sorted.length / 2])
        + " / "
        + number(sorted[sorted.length - 1]);
  }

  private static String number(double value) {
    if (value >= 1000) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    return value >= 100
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, value >= 10 ? "%.1f" : value >= 0.1 ? "%.2f" : "%.4f", value);
  }

  private void add(String format, Object... arguments) {
    page.append(arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments));
    page.append('\n');
  }
}
