package dev.waymark.tools.forest;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.RootReport;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What shows the forest root by root, written as it is walked: a store may have millions. */
abstract class ForestCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Mixin private ForestOptions forest;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  /** Prints what stands under a root, below the line that names it. */
  abstract void print(StoreInspector store, RootReport root, Output out);

  /** Prints what comes behind the last root; nothing, unless overridden. */
  void printEnd(StoreInspector store, Output out) {}

  /** What the list of what stands under a root is called in JSON. */
  abstract String listName();

  /** Writes the elements of that list. */
  abstract void write(StoreInspector store, RootReport root, JsonGenerator to);

  final CommandSpec spec() {
    return spec;
  }

  final int depthTokens() {
    return forest.depthTokens();
  }

  @Override
  public final Integer call() throws IOException {
    StoreInspector store = StoreInspector.open(path);
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        json(store, out);
      } else {
        print(store, out);
      }
    }
    return Findings.exitCode(store);
  }

  private void print(StoreInspector store, Output out) {
    for (RootReport root : forest.roots(store)) {
      out.line("%s", RootText.of(store, root));
      print(store, root, out);
      out.line();
    }
    printEnd(store, out);
    Findings.print(store.findings(), out);
  }

  private void json(StoreInspector store, Output out) throws IOException {
    try (JsonGenerator to = out.stream(spec.name())) {
      to.writeArrayFieldStart("roots");
      for (RootReport root : forest.roots(store)) {
        ForestJson.start(root, to);
        to.writeArrayFieldStart(listName());
        write(store, root, to);
        to.writeEndArray();
        to.writeEndObject();
      }
      to.writeEndArray();
      ForestJson.findings(store, to);
      to.writeEndObject();
    }
  }
}
