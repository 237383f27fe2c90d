package dev.waymark.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Mounts, unmounts and cuts the power of file systems, through a small native process that stays:
 * starting one for each call would take longer than the call, and hit no precise moment.
 */
final class FileSystemHelper implements AutoCloseable {
  private static final int ATTEMPTS = 400;

  private final Process process;
  private final Writer commands;
  private final BufferedReader answers;

  FileSystemHelper(String program) throws IOException {
    process = new ProcessBuilder(program).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    commands = process.outputWriter(StandardCharsets.UTF_8);
    answers = process.inputReader(StandardCharsets.UTF_8);
  }

  void mount(String type, String device, String mountPoint) throws IOException {
    must("mount " + type + " " + device + " " + mountPoint);
  }

  /**
   * Shuts a file system down without flushing its log: as far as it can tell, the power is gone.
   */
  void cut(String mountPoint) throws IOException {
    must("cut " + mountPoint);
  }

  /** Unmounts; waits a while for files that are just being closed. */
  void unmount(String mountPoint) throws IOException, InterruptedException {
    String answer = "";
    for (int i = 0; i < ATTEMPTS; i++) {
      answer = ask("umount " + mountPoint);
      if (answer.equals("ok")) {
        return;
      }
      Thread.sleep(5);
    }
    throw new IOException(
        "unmounting " + mountPoint + ": " + answer + "; still open: " + stillOpen(mountPoint));
  }

  /** What this process holds there: a leak of whoever was to let go of it. */
  static List<String> stillOpen(String mountPoint) throws IOException {
    List<String> open = new ArrayList<>();
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors) {
        try {
          open.add(Files.readSymbolicLink(descriptor).toString());
        } catch (NoSuchFileException e) {
          continue; // closed since it was listed
        }
      }
    }
    open.addAll(Files.readAllLines(Path.of("/proc/self/maps")));
    open.removeIf(line -> !line.contains(mountPoint));
    return open;
  }

  /** Fails if this process holds anything there. */
  static void expectNothingOpen(Path directory) throws IOException {
    List<String> open = stillOpen(directory.toString());
    if (!open.isEmpty()) {
      throw new IllegalStateException("left open: " + open);
    }
  }

  private void must(String command) throws IOException {
    String answer = ask(command);
    if (!answer.equals("ok")) {
      throw new IOException(command + ": " + answer);
    }
  }

  private synchronized String ask(String command) throws IOException {
    commands.write(command + "\n");
    commands.flush();
    String answer = answers.readLine();
    return answer == null ? "the helper is gone" : answer;
  }

  @Override
  public void close() {
    process.destroy();
  }
}
