package dev.waymark.tools.verify;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreRepair;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import dev.waymark.tools.Progress;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Gets a store back whose manifest is lost. Says what it would do, unless told to do it. */
@Command(
    name = "repair",
    mixinStandardHelpOptions = true,
    description = {
      "Rebuilds a lost or damaged manifest from the records, which describe themselves.",
      "Says what it would bring back, and changes nothing; with --apply it does so, and keeps what"
          + " it replaces in quarantine/.",
      "Exit code 3: something that was stored is lost. 7: there may have been more, such as segments"
          + " whose files are not there.",
    })
public final class RepairCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(
      names = "--rebuild-manifest",
      required = true,
      description = "rebuild the manifest from the records")
  private boolean rebuildManifest;

  @Option(names = "--apply", description = "do it; without this nothing is changed")
  private boolean apply;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() {
    StoreRepair.Report report = repair();
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        ObjectNode root = Output.envelope("repair");
        root.put("applied", report.applied());
        root.put("boundaries", report.boundaries());
        root.put("restore_points", report.points());
        root.put("segments", report.segments());
        Findings.add(report.findings(), root);
        out.json(root);
      } else {
        print(report, out);
      }
    }
    return exitCode(report);
  }

  private StoreRepair.Report repair() {
    try (Progress progress = Progress.onTerminal()) {
      progress.begin("reading records");
      return StoreRepair.rebuildManifest(
          path, apply, (done, all) -> progress.at(done >> 20, all >> 20, "MiB"));
    }
  }

  private static int exitCode(StoreRepair.Report report) {
    if (has(report, "ERROR")) {
      return ExitCodes.CORRUPTION;
    }
    return has(report, "WARNING") ? ExitCodes.MAYBE_INCOMPLETE : ExitCodes.OK;
  }

  private static boolean has(StoreRepair.Report report, String severity) {
    return report.findings().stream().anyMatch(f -> f.severity().equals(severity));
  }

  private static void print(StoreRepair.Report report, Output out) {
    Findings.print(report.findings(), out);
    if (report.segments() == 0) {
      out.line(
          "The store holds nothing yet, and its manifest is right: there is nothing to repair.");
      return;
    }
    out.line(
        "%s %,d boundaries and %,d restore points from %,d segments. %s",
        report.applied() ? "Brought back" : "Would bring back",
        report.boundaries(),
        report.points(),
        report.segments(),
        completeness(report));
    out.line(
        "What had been dropped, and whose bytes were still there, is among them: records do not say"
            + " that they were dropped. Keeps by name and the order of use are not known any more.");
    if (!report.applied()) {
      out.line("Nothing was changed. Run it again with --apply to do so.");
    }
  }

  private static String completeness(StoreRepair.Report report) {
    if (has(report, "ERROR")) {
      return "Something that was stored is lost.";
    }
    return has(report, "WARNING")
        ? "There may have been more: see above."
        : "No sign of more was found; of segments newer than these there would be none.";
  }
}
