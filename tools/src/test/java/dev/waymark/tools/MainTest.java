package dev.waymark.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tool as the system starts it: with a real pipe, and an environment. */
class MainTest {
  @TempDir Path dir;
  private Path store;

  @BeforeEach
  void make() throws Exception {
    store = BadStoresTest.tear(ToyStore.make(dir.resolve("store"), 2));
  }

  private Process start(Map<String, String> environment, Object... arguments) throws Exception {
    ProcessBuilder builder = JavaProcess.of(arguments);
    builder.environment().keySet().removeAll(Set.of("NO_COLOR", "TERM"));
    builder.environment().putAll(environment);
    return builder.start();
  }

  private static String out(Process process) throws Exception {
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).isEqualTo(4);
    return out;
  }

  @Test
  void aPipeThatIsClosedEndsItWell() throws Exception {
    Process process = start(Map.of(), Main.class.getName(), "tree", store, "--all");
    process.getInputStream().close();

    // Read to its end it would be 4.
    assertThat(process.waitFor()).isZero();
    assertThat(process.getErrorStream().readAllBytes()).isEmpty();
  }

  @Test
  void anAnswerThatCouldNotBeWrittenIsAFailure() throws Exception {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.isWritable(full), "needs /dev/full");
    for (List<String> arguments :
        List.of(
            List.of("ls", store.toString()),
            List.of("verify", "--json", store.toString()),
            List.of("completion", "bash"),
            List.of("--version"))) {
      ByteArrayOutputStream err = new ByteArrayOutputStream();
      try (FileOutputStream out = new FileOutputStream(full.toFile())) {
        int code =
            Main.runTo(
                arguments.toArray(String[]::new), out, false, new PrintStream(err, true, UTF_8));
        assertThat(code).isEqualTo(ExitCodes.FAILURE);
      }
      assertThat(err.toString(UTF_8)).contains("IO_FAILURE").contains("standard output");
    }
  }

  @Test
  void coloursAreForTerminalsWhereNobodyObjects() throws Exception {
    Object[] tree = {"-Dsegtool.stdout.terminal=true", Main.class.getName(), "tree", store};
    Map<String, String> terminal = Map.of("TERM", "xterm");

    assertThat(out(start(terminal, tree))).contains("\033[");
    assertThat(out(start(Map.of("TERM", "xterm", "NO_COLOR", "1"), tree))).doesNotContain("\033");
    assertThat(out(start(terminal, Main.class.getName(), "tree", store))).doesNotContain("\033");
  }
}
