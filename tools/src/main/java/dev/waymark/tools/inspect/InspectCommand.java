package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector;
import dev.waymark.TensorInspector;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Output;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows what a store holds. Writes nothing, takes no lock, also beside a live writer. */
@Command(
    name = "inspect",
    mixinStandardHelpOptions = true,
    description = {
      "Shows what a store holds: its segments, namespaces and restore points, where its bytes are,"
          + " and what codecs make of each tensor.",
      "Writes nothing and takes no lock, so it may be used beside a running server.",
    })
public final class InspectCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

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
    StoreInspector store = StoreInspector.open(path);
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
    return exitCode(store);
  }

  private static int exitCode(StoreInspector store) {
    if (store.findings().stream().anyMatch(f -> f.severity().equals("ERROR"))) {
      return ExitCodes.CORRUPTION;
    }
    return store.summary().manifestIsTorn() ? ExitCodes.TORN_TAIL : ExitCodes.OK;
  }
}
