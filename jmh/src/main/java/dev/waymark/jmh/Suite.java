package dev.waymark.jmh;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs subjects, each in a JVM of its own, and writes what they measured into one file.
 *
 * <p>{@code FORM DIRECTORY FILE [SUBJECT...]}: smoke, short or whole; where stores are made; the
 * report. {@code --render DOCS FILE...} makes pages of reports. {@code --list} names the subjects.
 */
public final class Suite {
  private static final Map<String, Subject> SUBJECTS = new LinkedHashMap<>();

  static {
    SUBJECTS.put("append", AppendBench::run);
    SUBJECTS.put("restore", RestoreBench::run);
    SUBJECTS.put("cold", ColdBench::run);
    SUBJECTS.put("match", MatchBench::run);
    SUBJECTS.put("open", OpenBench::run);
    SUBJECTS.put("save", SaveBench::run);
    SUBJECTS.put("session", SessionBench::run);
    SUBJECTS.put("codecs", CodecBench::run);
    SUBJECTS.put("allocation", AllocationBench::run);
    SUBJECTS.put("growth", GrowthBench::run);
    SUBJECTS.put("scale", ScaleBench::run);
  }

  private Suite() {}

  /** One benchmark. */
  private interface Subject {
    void run(Bed bed) throws Exception;
  }

  /** Runs, or renders. */
  public static void main(String[] args) throws Exception {
    if (args.length < (args.length > 0 && args[0].equals("--list") ? 1 : 3)) {
      System.err.println(
          "usage: FORM DIRECTORY FILE [SUBJECT...] | --render DOCS FILE... | --list");
      System.exit(2);
    }
    switch (args[0]) {
      case "--list" -> SUBJECTS.keySet().forEach(System.out::println);
      case "--render" -> render(Path.of(args[1]), List.of(args).subList(2, args.length));
      case "--one" -> one(args);
      default -> all(args);
    }
  }

  private static void render(Path docs, List<String> files) throws IOException {
    List<Report> reports = new ArrayList<>();
    try {
      for (String file : files) {
        reports.add(Report.read(Path.of(file)));
      }
      Render.write(Report.merged(reports), docs);
    } catch (NoSuchFileException | FileNotFoundException e) {
      refuse(e.getMessage());
    } catch (JsonProcessingException | IllegalArgumentException e) {
      refuse("no page can be made: " + e.getMessage());
    }
  }

  private static void refuse(String why) {
    System.err.println("bench: " + why);
    System.exit(2);
  }

  private static void all(String[] args) throws IOException, InterruptedException {
    Form form = Form.valueOf(args[0].toUpperCase(java.util.Locale.ROOT));
    Path directory = Path.of(args[1]);
    Path file = Path.of(args[2]);
    List<String> subjects = List.of(args).subList(3, args.length);
    for (String subject : subjects) {
      if (!SUBJECTS.containsKey(subject)) {
        throw new IllegalArgumentException("no subject " + subject + ": " + SUBJECTS.keySet());
      }
    }
    Files.createDirectories(directory);
    // One that is there afterwards is of this run.
    Files.deleteIfExists(file);
    long seed = System.nanoTime();
    String date = LocalDate.now(ZoneOffset.UTC).toString();
    Report whole =
        new Report(
            form.name(),
            date,
            seed,
            Machine.describe(directory),
            Machine.versions(),
            new ArrayList<>(),
            new ArrayList<>());
    boolean failed = false;
    for (String subject : subjects.isEmpty() ? SUBJECTS.keySet() : subjects) {
      long start = System.nanoTime();
      System.out.println("== " + subject);
      Path part = directory.resolve(subject + ".json");
      Files.deleteIfExists(part);
      if (fork(
              form,
              List.of(
                  "--one", subject, form.name(), directory.toString(), part.toString(), "" + seed))
          != 0) {
        System.out.println("== " + subject + " FAILED");
        failed = true;
        continue;
      }
      Report own = Report.read(part);
      whole.rows().addAll(own.rows());
      whole.curves().addAll(own.curves());
      // What is done counts, also if a later one fails.
      whole.write(file);
      System.out.printf("== %s: %.0f s%n", subject, (System.nanoTime() - start) / 1e9);
    }
    Bed.delete(directory);
    if (failed) {
      System.exit(1);
    }
  }

  private static void one(String[] args) throws Exception {
    Form form = Form.valueOf(args[2]);
    Path directory = Path.of(args[3]);
    Report report = Report.empty(form, "", Long.parseLong(args[5]));
    SUBJECTS.get(args[1]).run(new Bed(form, directory.resolve(args[1]), report));
    report.write(Path.of(args[4]));
  }

  private static int fork(Form form, List<String> args) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(Bench.flags().split(" +")));
    command.addAll(
        List.of(
            // All of the heap is there from the start, so that what grows is something else.
            form.isSmoke() ? "-Xms256m" : "-Xms2g",
            form.isSmoke() ? "-Xmx256m" : "-Xmx2g",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=6g",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            "-cp",
            System.getProperty("java.class.path").replace(":", File.pathSeparator),
            Suite.class.getName()));
    command.addAll(args);
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}
