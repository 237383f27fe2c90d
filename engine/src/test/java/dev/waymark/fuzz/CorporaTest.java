package dev.waymark.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the fuzzer starts from, and what it found, is replayed in every build. */
class CorporaTest {
  private interface Target {
    void run(byte[] input);
  }

  static List<Path> segment() {
    return Corpora.of("segment");
  }

  static List<Path> manifest() {
    return Corpora.of("manifest");
  }

  static List<Path> record() {
    return Corpora.of("record");
  }

  static List<Path> codecPart() {
    return Corpora.of("codec-part");
  }

  static List<Path> layout() {
    return Corpora.of("layout");
  }

  @ParameterizedTest
  @MethodSource
  void segment(Path input) throws IOException {
    replay(input, SegmentTarget::fuzzerTestOneInput);
  }

  @ParameterizedTest
  @MethodSource
  void manifest(Path input) throws IOException {
    replay(input, ManifestTarget::fuzzerTestOneInput);
  }

  @ParameterizedTest
  @MethodSource
  void record(Path input) throws IOException {
    replay(input, RecordTarget::fuzzerTestOneInput);
  }

  @ParameterizedTest
  @MethodSource
  void codecPart(Path input) throws IOException {
    replay(input, CodecPartTarget::fuzzerTestOneInput);
  }

  @ParameterizedTest
  @MethodSource
  void layout(Path input) throws IOException {
    replay(input, LayoutTarget::fuzzerTestOneInput);
  }

  private static final int STEP = 31;

  /** As it is, and with one byte in 31 changed in turn, which is what a fuzzer does first. */
  private static void replay(Path file, Target target) throws IOException {
    byte[] input = Files.readAllBytes(file);
    target.run(input);
    byte[] changed = input.clone();
    for (int i = 0; i < input.length; i += STEP) {
      changed[i] ^= (byte) (1 << (i & 7));
      target.run(changed);
      changed[i] = input[i];
    }
    assertThat(changed).isEqualTo(input);
  }
}
