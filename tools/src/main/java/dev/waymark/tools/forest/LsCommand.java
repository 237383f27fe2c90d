package dev.waymark.tools.forest;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.BoundaryReport;
import dev.waymark.StoreInspector.RootReport;
import dev.waymark.tools.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Lists the boundaries of a store, one a line, each after its parent. */
@Command(
    name = "ls",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the boundaries of a store, one a line, each after its parent: tokens, whether it is a"
          + " restore point (restore), whether chains part there (branch), sizes, age and key.",
      "Writes nothing and takes no lock, so it may be used beside a running server.",
    })
public final class LsCommand extends ForestCommand {
  private static final String ROW = "%10s  %-7s %-6s %10s %10s %7s  %s";

  private final long nowMillis = System.currentTimeMillis();

  @Option(names = "--points", description = "only restore points")
  private boolean pointsOnly;

  private boolean shows(BoundaryReport boundary) {
    return boundary.tokens() <= depthTokens() && (boundary.isPoint() || !pointsOnly);
  }

  @Override
  void print(StoreInspector store, RootReport root, Output out) {
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
  }

  @Override
  String listName() {
    return "boundaries";
  }

  @Override
  void write(StoreInspector store, RootReport root, JsonGenerator to) {
    store.forEachBoundary(
        root,
        boundary -> {
          if (shows(boundary)) {
            ForestJson.write(boundary, to);
          }
        });
  }
}
