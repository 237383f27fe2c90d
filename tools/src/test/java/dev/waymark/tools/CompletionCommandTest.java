package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionCommandTest {
  @TempDir Path dir;

  @Test
  void knowsEveryVerbForEitherShell() {
    for (String shell : new String[] {"bash", "zsh"}) {
      Run run = Run.of("completion", shell);

      assertThat(run.exitCode()).isZero();
      assertThat(run.out()).contains(Segtool.commandLine().getSubcommands().keySet());
    }
    assertThat(Run.of("completion", "fish").exitCode()).isEqualTo(2);
  }

  @Test
  void bashTakesItAndCompletesAVerb() throws IOException, InterruptedException {
    assumeThat(Path.of("/bin/bash")).exists();
    Path script = Files.writeString(dir.resolve("completion"), Run.of("completion", "bash").out());

    Process bash =
        new ProcessBuilder(
                "/bin/bash",
                "-c",
                "source "
                    + script
                    + "; COMP_WORDS=(segtool ver); COMP_CWORD=1; _complete_segtool;"
                    + " echo \"${COMPREPLY[@]}\"")
            .redirectErrorStream(true)
            .start();

    assertThat(new String(bash.getInputStream().readAllBytes()).strip()).isEqualTo("verify");
    assertThat(bash.waitFor()).isZero();
  }
}
