package dev.waymark.tools.forest;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.BoundaryReport;
import dev.waymark.StoreInspector.RootReport;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists the boundaries of a store, one a line, each after its parent. */
@Command(
    name = "ls",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the boundaries of a store, one a line, each after its parent: tokens, whether it is a"
          + " restore point (restore), whether chains part there (branch), sizes, age and key.",
      "Writes nothing and takes no lock, so it may be used beside a running server.",
    })
public final class LsCommand implements Callable<Integer> {
  private static final String ROW = "%10s  %-7s %-6s %10s %10s %7s  %s";

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Mixin private ForestOptions forest;

  @Option(names = "--points", description = "only restore points")
  private boolean pointsOnly;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() throws IOException {
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

  private boolean shows(BoundaryReport boundary) {
    return boundary.tokens() <= forest.depthTokens() && (boundary.isPoint() || !pointsOnly);
  }

  private void print(StoreInspector store, Output out) {
    long nowMillis = System.currentTimeMillis();
    for (RootReport root : forest.roots(store)) {
      out.line("%s", RootText.of(store, root));
      out.line(ROW, "tokens", "", "", "rows", "state", "age", "key");
      store.forEachBoundary(
          root,
          boundary -> {
            if (shows(boundary)) {
              out.line(
                  ROW,
                  Output.count(boundary.tokens()),
                  boundary.isPoint() ? "restore" : "",
                  boundary.isBranch() ? "branch" : "",
                  Output.bytes(boundary.rowBytes()),
                  Output.bytes(boundary.pointBytes()),
                  Output.age(boundary.addedMillis(), nowMillis),
                  boundary.key());
            }
          });
      out.line();
    }
    Findings.print(store.findings(), out);
  }

  private void json(StoreInspector store, Output out) throws IOException {
    try (JsonGenerator to = out.stream("ls")) {
      to.writeArrayFieldStart("roots");
      for (RootReport root : forest.roots(store)) {
        ForestJson.start(root, to);
        to.writeArrayFieldStart("boundaries");
        store.forEachBoundary(
            root,
            boundary -> {
              if (shows(boundary)) {
                ForestJson.write(boundary, to);
              }
            });
        to.writeEndArray();
        to.writeEndObject();
      }
      to.writeEndArray();
      ForestJson.findings(store, to);
      to.writeEndObject();
    }
  }
}
