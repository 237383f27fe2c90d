package dev.waymark.tools;

import dev.waymark.tools.replay.ReplayCommand;
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
    subcommands = {ReplayCommand.class},
    description = "Looks into a Waymark store, and replays recorded traces against one.")
public final class Segtool implements Runnable {
  @Spec private CommandSpec spec;

  public static void main(String[] args) {
    System.exit(new CommandLine(new Segtool()).execute(args));
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
