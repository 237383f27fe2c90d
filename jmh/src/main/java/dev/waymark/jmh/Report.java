package dev.waymark.jmh;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a run measured, as it stands in its file.
 *
 * @param form which form ran
 * @param date day on which it ran
 * @param seed of the order of turns
 * @param machine what it ran on, by label
 * @param versions of what was measured, by name
 * @param rows figures
 * @param curves figures against figures
 */
record Report(
    String form,
    String date,
    long seed,
    Map<String, String> machine,
    Map<String, String> versions,
    List<Row> rows,
    List<Curve> curves) {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  /**
   * Figures of one kind, one series a contender, measured in turns: those at the same place belong
   * to the same round.
   *
   * @param subject the benchmark
   * @param name what was done
   * @param unit of the figures
   * @param series by contender, in the order of the table
   * @param goals what is to be reached
   * @param note what else has to be known, or empty
   */
  record Row(
      String subject,
      String name,
      String unit,
      Map<String, double[]> series,
      List<Goal> goals,
      String note) {
    /** Figures of a contender over those of another, round by round, in order of size. */
    double[] ratios(String of, String against) {
      double[] own = series.get(of);
      double[] others = series.get(against);
      if (own == null || others == null) {
        return new double[0];
      }
      double[] ratios = new double[Math.min(own.length, others.length)];
      for (int i = 0; i < ratios.length; i++) {
        ratios[i] = own[i] / others[i];
      }
      Arrays.sort(ratios);
      return ratios;
    }

    double[] sorted(String of) {
      double[] values = series.get(of).clone();
      Arrays.sort(values);
      return values;
    }
  }

  /**
   * A figure to reach: of a contender over others, or by itself.
   *
   * @param of whose
   * @param against over the best of these that took part; none: the figure itself
   * @param atLeast whether more is better
   * @param value the bound
   */
  record Goal(String of, List<String> against, boolean atLeast, double value) {
    boolean isReached(double median) {
      return atLeast ? median >= value : median <= value;
    }
  }

  /**
   * Points in a plane, one line a series.
   *
   * @param subject the benchmark
   * @param name what is shown
   * @param x label and unit of the first axis
   * @param y label and unit of the second
   * @param lines by name, each of points in order
   * @param note what else has to be known, or empty
   */
  record Curve(
      String subject,
      String name,
      String x,
      String y,
      Map<String, List<double[]>> lines,
      String note) {}

  static Report empty(Form form, String date, long seed) {
    return new Report(
        form.name(), date, seed, Map.of(), Map.of(), new ArrayList<>(), new ArrayList<>());
  }

  /**
   * Of several runs: a subject that more than one measured is taken from the last of them.
   *
   * @throws IllegalArgumentException if they are not of the same machine and versions
   */
  static Report merged(List<Report> all) {
    Report first = all.get(0);
    for (Report each : all) {
      requireSame("machines", first.machine(), each.machine());
      requireSame("versions", first.versions(), each.versions());
    }
    List<Row> rows = new ArrayList<>();
    List<Curve> curves = new ArrayList<>();
    for (Report each : all) {
      Set<String> again = each.rows().stream().map(Row::subject).collect(Collectors.toSet());
      rows.removeIf(row -> again.contains(row.subject()));
      curves.removeIf(curve -> again.contains(curve.subject()));
      rows.addAll(each.rows());
      curves.addAll(each.curves());
    }
    String dates = all.stream().map(Report::date).distinct().collect(Collectors.joining(", "));
    String forms = all.stream().map(Report::form).distinct().collect(Collectors.joining(", "));
    return new Report(forms, dates, first.seed(), first.machine(), first.versions(), rows, curves);
  }

  private static void requireSame(
      String what, Map<String, String> first, Map<String, String> other) {
    if (!first.equals(other)) {
      throw new IllegalArgumentException(
          "reports of different " + what + " are not one: " + first + " and " + other);
    }
  }

  static Report read(Path file) throws IOException {
    return JSON.readValue(file.toFile(), Report.class);
  }

  void write(Path file) throws IOException {
    JSON.writeValue(file.toFile(), this);
  }
}
