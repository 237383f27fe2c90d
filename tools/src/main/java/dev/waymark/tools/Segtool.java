package dev.waymark.tools;

import dev.waymark.error.WaymarkException;
import dev.waymark.tools.demo.DemoCommand;
import dev.waymark.tools.inspect.InspectCommand;
import dev.waymark.tools.replay.ReplayCommand;
import dev.waymark.tools.server.ServeCommand;
import dev.waymark.tools.space.CompactCommand;
import dev.waymark.tools.space.PinCommand;
import dev.waymark.tools.verify.RepairCommand;
import dev.waymark.tools.verify.VerifyCommand;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line tool: looks into a store, checks it and measures it. */
@Command(
    name = "segtool",
    mixinStandardHelpOptions = true,
    versionProvider = Segtool.Version.class,
    description = "Looks into a Waymark store, and replays recorded traces against one.",
    subcommands = {
      CompactCommand.class,
      DemoCommand.class,
      InspectCommand.class,
      PinCommand.class,
      ReplayCommand.class,
      ServeCommand.class,
      VerifyCommand.class,
      RepairCommand.class,
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
    })
public final class Segtool implements Runnable {
  @Spec private CommandSpec spec;

  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /** The tool with its verbs; output and errors go where the caller sets them. */
  public static CommandLine commandLine() {
    return new CommandLine(new Segtool())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler((e, line, result) -> failed(e, line));
  }

  /** What is expected to happen is one sentence; what is not is a bug, and shows where. */
  private static int failed(Exception e, CommandLine line) {
    if (e instanceof Output.ReaderGone) {
      return ExitCodes.OK;
    }
    PrintWriter err = line.getErr();
    if (e instanceof WaymarkException expected) {
      err.println("segtool: " + expected.getMessage());
      err.flush();
      return ExitCodes.of(expected.code());
    }
    err.println("segtool: this is a bug, please report it:");
    e.printStackTrace(err);
    err.flush();
    return ExitCodes.FAILURE;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing a command");
  }

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      // Known only in the jar; a run from class files has no manifest.
      String version = Segtool.class.getPackage().getImplementationVersion();
      return new String[] {"segtool " + (version == null ? "(unpackaged)" : version)};
    }
  }
}
