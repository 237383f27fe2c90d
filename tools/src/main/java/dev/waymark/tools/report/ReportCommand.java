package dev.waymark.tools.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector;
import dev.waymark.StoreReader;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import dev.waymark.tools.move.NewFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code segtool report}: a store as one page for a browser. */
@Command(
    name = "report",
    mixinStandardHelpOptions = true,
    description = {
      "Writes one page that shows where the bytes of a store are, its prefix forest, and what bundles"
          + " would have taken. It needs nothing from elsewhere, and names no tokens.",
      "Writes nothing into the store and takes no lock, so it may be used beside a running server.",
    })
public final class ReportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      required = true,
      description = "file to write; one that is there is replaced")
  private Path file;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    int bytes;
    StoreInspector inspector = StoreInspector.open(path);
    try (StoreReader reader = StoreReader.open(path);
        NewFile page = NewFile.at(file, true)) {
      ByteBuffer html =
          StandardCharsets.UTF_8.encode(
              new ReportPage(inspector, reader, System.currentTimeMillis()).html().toString());
      bytes = html.remaining();
      while (html.hasRemaining()) {
        page.channel().write(html);
      }
      page.finish();
    }
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        ObjectNode root = Output.envelope("report");
        root.put("file_bytes", bytes);
        root.put("boundaries", inspector.summary().boundaries());
        Findings.add(inspector.findings(), root);
        out.json(root);
      } else {
        out.line("Wrote a page of %s.", Output.bytes(bytes));
        Findings.print(inspector.findings(), out);
      }
    }
    return Findings.damageCode(inspector);
  }
}
