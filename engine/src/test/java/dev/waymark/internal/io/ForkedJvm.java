package dev.waymark.internal.io;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a main class of the tests in a JVM of its own, with this one's class path and module flags:
 * for what may kill a JVM, needs a second process, or another umask.
 */
final class ForkedJvm implements AutoCloseable {
  /** How a JVM ended, with all that it printed. */
  record Result(int exitCode, String output) {}

  private final Process process;

  private ForkedJvm(Process process) {
    this.process = process;
  }

  static Result run(Class<?> main, String... arguments) {
    return runIn("", true, main, arguments);
  }

  static Result runWithoutFlags(Class<?> main, String... arguments) {
    return runIn("", false, main, arguments);
  }

  /** Runs it after a command of the shell, such as {@code umask 0}. */
  static Result runIn(String shell, boolean flags, Class<?> main, String... arguments) {
    try (ForkedJvm forked = start(shell, flags, main, arguments)) {
      String output =
          new String(forked.process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(forked.waitForEnd(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static ForkedJvm start(Class<?> main, String... arguments) {
    return start("", true, main, arguments);
  }

  /** Waits for a line; fails if the process ends without it. */
  void awaitLine(String wanted) {
    try {
      BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
      StringBuilder seen = new StringBuilder();
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (line.equals(wanted)) {
          return;
        }
        seen.append(line).append('\n');
      }
      throw new AssertionError("ended before it said " + wanted + ":\n" + seen);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void kill() {
    process.destroyForcibly();
    waitForEnd();
  }

  @Override
  public void close() {
    kill();
  }

  private static ForkedJvm start(String shell, boolean flags, Class<?> main, String... arguments) {
    List<String> java = new ArrayList<>();
    java.add(System.getProperty("java.home") + "/bin/java");
    if (flags) {
      ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
          .filter(a -> a.startsWith("--add-") || a.startsWith("--enable") || a.startsWith("--sun"))
          .forEach(java::add);
    }
    java.addAll(List.of("-Xmx256m", "-XX:-CreateCoredumpOnCrash"));
    java.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    java.addAll(Arrays.asList(arguments));
    List<String> command = java;
    if (!shell.isEmpty()) {
      command = new ArrayList<>(List.of("sh", "-c", shell + "; exec \"$@\"", "sh"));
      command.addAll(java);
    }
    try {
      return new ForkedJvm(new ProcessBuilder(command).redirectErrorStream(true).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int waitForEnd() {
    try {
      if (!process.waitFor(5, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        throw new AssertionError("a forked JVM did not end");
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
