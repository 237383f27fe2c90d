package dev.waymark.tools.dump;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.RecordInspector;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Output;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows records byte by byte: headers with offsets, tensors as statistics. */
@Command(
    name = "dump",
    mixinStandardHelpOptions = true,
    description = {
      "Shows a record of a segment, header by header with offsets in the file; of its tensors"
          + " statistics and the first bytes, in hex. Dead records, the descriptions of namespaces,"
          + " a segment's header (at 0) and its footer are shown too.",
      "Writes nothing and takes no lock, so it may be used beside a running server.",
    })
public final class DumpCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Parameters(
      index = "1",
      paramLabel = "RECORD",
      converter = RecordName.Converter.class,
      description = RecordName.SYNTAX)
  private RecordName name;

  @Option(names = "--whole-keys", description = "show keys whole, not their first 8 digits")
  private boolean wholeKeys;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() {
    List<RecordInspector.Report> records = name.read(path, wholeKeys);
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        ObjectNode root = Output.envelope("dump");
        ArrayNode list = root.putArray("records");
        records.forEach(record -> new RecordText(record).add(list.addObject()));
        out.json(root);
      } else {
        for (RecordInspector.Report record : records) {
          if (record != records.get(0)) {
            out.line();
          }
          RecordText text = new RecordText(record);
          text.printHeaders(out);
          text.printParts(out);
        }
      }
    }
    return records.stream().anyMatch(RecordInspector.Report::isDamaged)
        ? ExitCodes.CORRUPTION
        : ExitCodes.OK;
  }
}
