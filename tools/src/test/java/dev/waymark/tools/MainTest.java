package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
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
  void coloursAreForTerminalsWhereNobodyObjects() throws Exception {
    Object[] tree = {"-Dsegtool.stdout.terminal=true", Main.class.getName(), "tree", store};
    Map<String, String> terminal = Map.of("TERM", "xterm");

    assertThat(out(start(terminal, tree))).contains("\033[");
    assertThat(out(start(Map.of("TERM", "xterm", "NO_COLOR", "1"), tree))).doesNotContain("\033");
    assertThat(out(start(terminal, Main.class.getName(), "tree", store))).doesNotContain("\033");
  }
}
