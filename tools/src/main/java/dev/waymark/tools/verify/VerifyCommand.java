package dev.waymark.tools.verify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreVerifier;
import dev.waymark.StoreVerifier.FileBytes;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
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
    StoreVerifier.Report report = StoreVerifier.verify(path, level, bytes -> {});
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
    return root;
  }
}
