package dev.waymark.tools.verify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector;
import dev.waymark.StoreVerifier;
import dev.waymark.StoreVerifier.FileBytes;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import dev.waymark.tools.Progress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Says whether a store is what its manifest says. Reads only, heals nothing. */
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    description = {
      "Says whether a store is what its manifest says, and where every byte of every file is.",
      "Reads only, takes no lock and heals nothing, so it may be used beside a running server.",
      "Damage to what something stored rests on is an error, and exit code 3. Damage to STATUS, on"
          + " which nothing rests, is a warning, and the exit code stays as it is.",
      "Unaccounted are bytes that the manifest does not explain: files that it does not name, and"
          + " blocks that a file system needs for itself; below 0, live records without blocks.",
    })
public final class VerifyCommand implements Callable<Integer> {
  private static final String FILES = "%-24s %15s %15s %13s %13s %13s %15s";

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(
      names = "--level",
      paramLabel = "LEVEL",
      defaultValue = "checksum",
      description =
          "structure: the manifest and the place of every byte; checksum (default): also every"
              + " record, headers and descriptions of namespaces; all: also whether each record can"
              + " be decoded, and footers")
  private StoreVerifier.Level level;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() {
    StoreVerifier.Report report = verify();
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(json(report));
      } else {
        print(report, out);
      }
    }
    if (report.isDamaged()) {
      return ExitCodes.CORRUPTION;
    }
    return report.isTorn() ? ExitCodes.TORN_TAIL : ExitCodes.OK;
  }

  private StoreVerifier.Report verify() {
    try (Progress progress = Progress.onTerminal()) {
      // What there is to check is known only from another look.
      long all = progress.isShown() ? StoreInspector.open(path).totals().liveBytes() : 0;
      long[] done = {0};
      progress.begin("verifying");
      return StoreVerifier.verify(
          path,
          level,
          bytes -> {
            done[0] += bytes;
            progress.at(done[0] >> 20, all >> 20, "MiB");
          });
    }
  }

  private void print(StoreVerifier.Report report, Output out) {
    out.line(FILES, "file", "live", "dead", "framing", "reserved", "unaccounted", "allocated");
    long[] sum = new long[6];
    for (FileBytes file : report.files()) {
      long[] bytes = {
        file.liveBytes(),
        file.deadBytes(),
        file.framingBytes(),
        file.reservedBytes(),
        file.unaccountedBytes(),
        file.allocatedBytes()
      };
      row(out, file.file(), bytes);
      for (int i = 0; i < sum.length; i++) {
        sum[i] += bytes[i];
      }
    }
    row(out, "all, in bytes", sum);
    out.line();
    Findings.print(report.findings(), out);
    out.line(
        "%s: %,d boundaries, %,d restore points; %,d records, %s checked",
        report.isDamaged() ? "DAMAGED" : report.isTorn() ? "torn tail, recoverable" : "well",
        report.boundaries(),
        report.points(),
        report.recordsChecked(),
        Output.bytes(report.bytesChecked()));
    if (report.isDamaged()) {
      out.line("%s", advice(report));
    }
  }

  /** The manifest was read, or there would be no report. */
  private static String advice(StoreVerifier.Report report) {
    if (report.findings().stream().anyMatch(f -> f.id().equals("SEGMENT_MISNAMED"))) {
      return "Do what the finding on the segment's name says before the store is opened.";
    }
    return "The manifest can be read: do not repair, which is for a lost manifest and brings back"
        + " less. If there is a copy of a missing or damaged file, put it back first. The next open"
        + " for writing drops what files lack; damaged records are dropped when they are read; all"
        + " else stays.";
  }

  private static void row(Output out, String name, long... bytes) {
    Object[] cells = new Object[bytes.length + 1];
    cells[0] = name;
    for (int i = 0; i < bytes.length; i++) {
      cells[i + 1] = String.format(Locale.ROOT, "%,d", bytes[i]);
    }
    out.line(FILES, cells);
  }

  private ObjectNode json(StoreVerifier.Report report) {
    ObjectNode root = Output.envelope("verify");
    root.put("level", level.name().toLowerCase(Locale.ROOT));
    root.put("damaged", report.isDamaged());
    root.put("torn", report.isTorn());
    root.put("boundaries", report.boundaries());
    root.put("restore_points", report.points());
    root.put("records_checked", report.recordsChecked());
    root.put("bytes_checked", report.bytesChecked());
    ArrayNode files = root.putArray("files");
    for (FileBytes file : report.files()) {
      ObjectNode node = files.addObject();
      node.put("file", file.file());
      node.put("length_bytes", file.lengthBytes());
      node.put("allocated_bytes", file.allocatedBytes());
      node.put("live_bytes", file.liveBytes());
      node.put("dead_bytes", file.deadBytes());
      node.put("framing_bytes", file.framingBytes());
      node.put("reserved_bytes", file.reservedBytes());
      node.put("unaccounted_bytes", file.unaccountedBytes());
    }
    Findings.add(report.findings(), root);
    if (report.isDamaged()) {
      Output.error(
          root,
          "CORRUPTION",
          "bytes on disk are not what was written: see findings",
          "put a copy of the damaged files back, or open the store, which drops what they lack",
          ExitCodes.CORRUPTION);
    } else if (report.isTorn()) {
      Output.error(
          root,
          "TORN_TAIL",
          "the manifest ends in edits that never counted",
          "open the store for writing, which cuts them off",
          ExitCodes.TORN_TAIL);
    }
    return root;
  }
}
