package dev.waymark.fuzz;

import dev.waymark.layout.Layout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The corpora: for each target a folder of inputs below {@code src/test/fuzz}. {@link Seeds} makes
 * most of them from the vectors; those named {@code found-...} were found.
 */
final class Corpora {
  private static final Path IN_MODULE = Path.of("src", "test", "fuzz");

  private Corpora() {}

  /** Where they are: tests run in the module, the fuzzer in the root of the tree. */
  static Path root() {
    return Files.isDirectory(IN_MODULE.getParent())
        ? IN_MODULE
        : Path.of("engine").resolve(IN_MODULE);
  }

  /** The inputs of a target. */
  static List<Path> of(String target) {
    try (Stream<Path> files = Files.list(root().resolve(target))) {
      return files.sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Path layoutsFile() {
    return root().resolve("layouts.txt");
  }

  /** The layouts with which {@link RecordTarget} reads, one a line of a file. */
  static List<Layout> layouts() {
    try {
      return Files.readAllLines(layoutsFile()).stream().map(Layout::ofJson).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
