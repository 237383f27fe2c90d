package dev.waymark.tools;

import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints what makes a shell complete verbs and options. */
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    description = {
      "Prints a script that makes a shell complete verbs and options.",
      "bash: source <(segtool completion bash). zsh: the same with zsh, after compinit.",
    })
final class CompletionCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "SHELL", description = "bash or zsh")
  private Shell shell;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  /** One script does for both: under zsh it loads bashcompinit itself. */
  enum Shell {
    BASH,
    ZSH
  }

  @Override
  public Integer call() {
    CommandLine tool = spec.root().commandLine();
    String script = AutoComplete.bash(tool.getCommandName(), tool);
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(
            Output.envelope("completion")
                .put("shell", shell.name().toLowerCase(Locale.ROOT))
                .put("script", script));
      } else {
        out.line("%s", script);
      }
    }
    return ExitCodes.OK;
  }
}
