package dev.waymark.jmh;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * What a subject is measured on: a directory, and turns. All that is compared takes its turn in
 * every round, in an order that is shuffled anew for each, so that no place in the order, no drift
 * of the machine and no part of the disk is one contender's alone; ratios are taken within rounds.
 */
final class Bed {
  private static final int FEWEST_ROUNDS = 3;

  private final Form form;
  private final Path root;
  private final Report report;
  private final Random random;
  private int directories;

  /** One measurement; a figure in the unit of its row. */
  interface Turn {
    double take() throws Exception;
  }

  Bed(Form form, Path root, Report report) {
    this.form = form;
    this.root = root;
    this.report = report;
    this.random = new Random(report.seed());
  }

  Form form() {
    return form;
  }

  /** A path that nothing is at. */
  Path fresh(String name) {
    return root.resolve(directories++ + "-" + name.replaceAll("[^a-zA-Z0-9]+", "-"));
  }

  /** Takes turns in shuffled order, and gives the figures of each, round by round. */
  Map<String, double[]> turns(Map<String, Turn> turns) throws Exception {
    return turns(turns, form.warmups(), form.rounds());
  }

  Map<String, double[]> turns(Map<String, Turn> turns, int warmups, int rounds) throws Exception {
    List<String> order = new ArrayList<>(turns.keySet());
    Map<String, double[]> figures = new LinkedHashMap<>();
    turns.keySet().forEach(name -> figures.put(name, new double[rounds]));
    long start = System.nanoTime();
    int done = 0;
    for (int round = -warmups; round < rounds; round++) {
      Collections.shuffle(order, random);
      for (String name : order) {
        double figure = turns.get(name).take();
        if (round >= 0) {
          figures.get(name)[round] = figure;
        }
      }
      done = Math.max(0, round + 1);
      if (done >= FEWEST_ROUNDS && System.nanoTime() - start > form.budgetSeconds() * 1e9) {
        break;
      }
    }
    int kept = done;
    figures.replaceAll((name, values) -> Arrays.copyOf(values, kept));
    return figures;
  }

  void add(Report.Row row) {
    report.rows().add(row);
    System.out.println(Render.line(row));
  }

  void add(Report.Curve curve) {
    report.curves().add(curve);
  }

  static void delete(Path path) {
    if (!Files.exists(path)) {
      return;
    }
    try (Stream<Path> all = Files.walk(path)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
