package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.RecordInspector;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.BoundaryDetail;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.TensorInspector;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import dev.waymark.tools.dump.RecordName;
import dev.waymark.tools.forest.ForestOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows what a store holds. Writes nothing, takes no lock, also beside a live writer. */
@Command(
    name = "inspect",
    mixinStandardHelpOptions = true,
    description = {
      "Shows what a store holds: its segments, namespaces and restore points, where its bytes are,"
          + " and what codecs make of each tensor; or one segment, record, boundary or namespace.",
      "What is allocated is live, dead, framing, reserved or unaccounted. Unaccounted bytes are those"
          + " that the manifest does not explain: files that it does not name, such as what a repair"
          + " set aside, and blocks that a file system needs for itself.",
      "Writes nothing and takes no lock, so it may be used beside a running server.",
    })
public final class InspectCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(
      names = "--segment",
      paramLabel = "ID",
      description = "of one segment: where its bytes are, and the records that live in it")
  private Long segment;

  @Option(
      names = "--record",
      paramLabel = "RECORD",
      converter = RecordName.Converter.class,
      description = "of one record, its headers: " + RecordName.SYNTAX)
  private RecordName record;

  @Option(
      names = "--boundary",
      paramLabel = "KEY",
      description = "of one boundary: 8 or more digits of its key, as ls lists it")
  private String boundary;

  @Option(
      names = "--namespace",
      paramLabel = "N|FINGERPRINT",
      description = "of one namespace, its tensors and tenants: its number, or the 8 digits")
  private String namespace;

  @Option(names = "--boundaries", description = "list every boundary, each after its parent")
  private boolean boundaries;

  @Option(
      names = "--no-tensors",
      description =
          "leave out what codecs make of each tensor: for that, the front of every record is read")
  private boolean noTensors;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() {
    long subjects =
        Stream.of(segment, record, boundary, namespace).filter(Objects::nonNull).count();
    if (subjects > 1) {
      throw usage("--segment, --record, --boundary and --namespace are shown one at a time");
    }
    if (record != null) {
      List<RecordInspector.Report> records = record.read(path, false);
      show(new RecordView(records));
      return records.stream().anyMatch(RecordInspector.Report::isDamaged)
          ? ExitCodes.CORRUPTION
          : ExitCodes.OK;
    }
    StoreInspector store = StoreInspector.open(path);
    if (subjects == 1) {
      show(view(store));
    } else {
      show(store);
    }
    return Findings.exitCode(store);
  }

  private View view(StoreInspector store) {
    if (segment != null) {
      return new SegmentView(
          store.segments().stream()
              .filter(report -> report.id() == segment)
              .findFirst()
              .orElseThrow(() -> unclear("segment", "inspect")),
          store.records(segment));
    }
    if (namespace != null) {
      NamespaceReport found = ForestOptions.namespace(store, namespace);
      return new NamespaceView(
          found, store.roots().stream().filter(root -> root.namespaceId() == found.id()).toList());
    }
    List<BoundaryDetail> found = store.find(boundary);
    if (found.size() != 1) {
      throw unclear("boundary", "ls");
    }
    return new BoundaryView(found.get(0), System.currentTimeMillis());
  }

  private static InvalidArgumentException unclear(String what, String verb) {
    return new InvalidArgumentException(
        ErrorDetail.of("which " + what + " is meant is not clear")
            .expected("the name of one " + what + " of the store")
            .found("none, or several")
            .remedy("segtool " + verb + " lists them"));
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private void show(View view) {
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        ObjectNode root = Output.envelope("inspect");
        view.add(root);
        out.json(root);
      } else {
        view.print(out);
      }
    }
  }

  private void show(StoreInspector store) {
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        ObjectNode root = new InspectJson(store, boundaries).toJson();
        if (!noTensors) {
          TensorJson.add(TensorInspector.inspect(path), root);
        }
        out.json(root);
      } else {
        new InspectText(store, out, System.currentTimeMillis()).print(boundaries);
        if (!noTensors) {
          new TensorTable(TensorInspector.inspect(path), out).print();
        }
      }
    }
  }
}
