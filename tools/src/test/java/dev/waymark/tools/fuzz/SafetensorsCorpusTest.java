package dev.waymark.tools.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the fuzzer starts from, and what it found, is replayed in every build. */
class SafetensorsCorpusTest {
  static List<Path> inputs() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("src", "test", "fuzz", "safetensors"))) {
      return files.sorted().toList();
    }
  }

  /** As it is, and with each bit of each byte changed in turn. */
  @ParameterizedTest
  @MethodSource("inputs")
  void isReadOrRefused(Path file) throws IOException {
    byte[] input = Files.readAllBytes(file);
    SafetensorsTarget.fuzzerTestOneInput(input);
    for (int bit = 0; bit < 8 * input.length; bit++) {
      input[bit / 8] ^= (byte) (1 << bit % 8);
      SafetensorsTarget.fuzzerTestOneInput(input);
      input[bit / 8] ^= (byte) (1 << bit % 8);
    }
  }
}
