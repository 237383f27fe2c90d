package dev.waymark.tools.replay;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Traces for tests: recorded ones, which are not part of the tree, and made-up ones. */
final class TraceFiles {
  private TraceFiles() {}

  /**
   * A recorded trace beside the root of the tree, or where the variable WAYMARK_TEST_DATA says. The
   * test is skipped where there is none.
   */
  static Path recorded(String name) {
    String elsewhere = System.getenv("WAYMARK_TEST_DATA");
    Path module = Path.of("").toAbsolutePath();
    Path root = Files.isDirectory(module.resolve("tools")) ? module : module.getParent();
    Path data = elsewhere == null ? root.resolve("../shared/data").normalize() : Path.of(elsewhere);
    Path file = data.resolve("traces").resolve(name);
    assumeTrue(Files.isRegularFile(file), "skipped: there is no ../shared/data/traces/" + name);
    return file;
  }

  static Path write(Path folder, String name, String... lines) throws IOException {
    return Files.writeString(
        folder.resolve(name), String.join("\n", lines) + "\n", StandardCharsets.UTF_8);
  }

  static List<TraceRequest> readAll(Path file, OptionalInt blockTokens) throws IOException {
    List<TraceRequest> requests = new ArrayList<>();
    try (TraceReader reader = TraceReader.open(file, blockTokens)) {
      for (TraceRequest r = reader.next(); r != null; r = reader.next()) {
        requests.add(r);
      }
    }
    return requests;
  }
}
