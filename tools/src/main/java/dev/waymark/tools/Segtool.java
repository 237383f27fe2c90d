package dev.waymark.tools;

import dev.waymark.tools.demo.DemoCommand;
import dev.waymark.tools.dump.DumpCommand;
import dev.waymark.tools.estimate.EstimateCommand;
import dev.waymark.tools.explain.ExplainCommand;
import dev.waymark.tools.forest.LsCommand;
import dev.waymark.tools.forest.TreeCommand;
import dev.waymark.tools.inspect.InspectCommand;
import dev.waymark.tools.inspect.StatusCommand;
import dev.waymark.tools.move.ExportCommand;
import dev.waymark.tools.move.ImportCommand;
import dev.waymark.tools.replay.ReplayCommand;
import dev.waymark.tools.report.ReportCommand;
import dev.waymark.tools.server.ServeCommand;
import dev.waymark.tools.space.CompactCommand;
import dev.waymark.tools.space.PinCommand;
import dev.waymark.tools.space.WipeCommand;
import dev.waymark.tools.verify.RepairCommand;
import dev.waymark.tools.verify.VerifyCommand;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExecutionException;
import picocli.CommandLine.Help;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.Spec;

/** The command line tool: looks into a store, checks it and measures it. */
@Command(
    name = "segtool",
    mixinStandardHelpOptions = true,
    versionProvider = Segtool.Version.class,
    description = "Looks into a Waymark store, checks it, mends it and measures it.",
    footer = {
      "",
      "With --json every verb prints one object with output_version and command; a failure is one"
          + " too, with error: code, message, remedy, exit_code.",
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:fine",
      "1:failure",
      "2:wrong usage",
      "3:corruption",
      "4:a torn tail, from which the next open recovers",
      "5:the store is locked",
      "6:a newer version wrote the store",
      "7:repaired, but there may have been more",
    })
public final class Segtool implements Runnable {
  /** Named here too: asking their annotations takes a tenth of the time that a small verb does. */
  private record Verb(String name, Class<?> type) {}

  private static final List<Verb> VERBS =
      List.of(
          new Verb("compact", CompactCommand.class),
          new Verb("completion", CompletionCommand.class),
          new Verb("demo", DemoCommand.class),
          new Verb("dump", DumpCommand.class),
          new Verb("estimate", EstimateCommand.class),
          new Verb("explain", ExplainCommand.class),
          new Verb("export", ExportCommand.class),
          new Verb("import", ImportCommand.class),
          new Verb("inspect", InspectCommand.class),
          new Verb("ls", LsCommand.class),
          new Verb("pin", PinCommand.class),
          new Verb("replay", ReplayCommand.class),
          new Verb("report", ReportCommand.class),
          new Verb("serve", ServeCommand.class),
          new Verb("status", StatusCommand.class),
          new Verb("tree", TreeCommand.class),
          new Verb("wipe", WipeCommand.class),
          new Verb("verify", VerifyCommand.class),
          new Verb("repair", RepairCommand.class),
          new Verb("help", HelpCommand.class));

  @Spec private CommandSpec spec;

  /** The tool with its verbs; output and errors go where the caller sets them. */
  public static CommandLine commandLine() {
    return with(VERBS);
  }

  /** The tool with what it takes to run a verb: reading what all of them accept takes a while. */
  static CommandLine commandLine(String verb) {
    // The script of completion is about all of them, and so are help and the answer to a typo.
    boolean needsAll = verb.equals("completion") || verb.equals("help");
    List<Verb> named = VERBS.stream().filter(each -> each.name().equals(verb)).toList();
    return with(named.isEmpty() || needsAll ? VERBS : named);
  }

  private static CommandLine with(List<Verb> verbs) {
    CommandLine line = new CommandLine(new Segtool());
    verbs.forEach(verb -> line.addSubcommand(verb.type()));
    return prepare(line);
  }

  /** Gives a verb that is run on its own the tool's manners. */
  public static CommandLine prepare(CommandLine line) {
    return line.setResourceBundle(new HelpTexts())
        .setColorScheme(Help.defaultColorScheme(Colours.ansi()))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(Segtool::execute)
        .setParameterExceptionHandler(Failures::usage)
        .setExecutionExceptionHandler(Failures::execution);
  }

  /** What a verb needs and does not get is a failure of the verb, not of the tool. */
  private static int execute(ParseResult result) {
    try {
      return new RunLast().execute(result);
    } catch (OutOfMemoryError e) {
      CommandLine verb = result.asCommandLineList().get(result.asCommandLineList().size() - 1);
      throw new ExecutionException(verb, "out of memory", new OutOfMemoryException(e));
    }
  }

  /** There is no memory of some kind; which, only the message says. */
  static final class OutOfMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OutOfMemoryException(OutOfMemoryError cause) {
      super(cause.getMessage(), null, false, false);
    }
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a verb is missing");
  }

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {Main.version()};
    }
  }
}
