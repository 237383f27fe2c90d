package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BesideWriterTest {
  @TempDir Path dir;

  @Test
  void noVerbFindsAnythingWrongBesideAWriterOrTakesItsLockAway() throws Exception {
    assertThat(BesideWriter.run(dir, 60, 42, new StringBuilder())).isEmpty();
  }
}
