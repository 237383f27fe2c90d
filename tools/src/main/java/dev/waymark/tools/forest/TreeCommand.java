package dev.waymark.tools.forest;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.RootReport;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Draws the prefix forest. */
@Command(
    name = "tree",
    mixinStandardHelpOptions = true,
    description = {
      "Draws the prefix forest: a line for each piece of a chain that ends at a restore point (*),"
          + " where chains part, or where nothing more is stored (-: only rows).",
      "Writes nothing and takes no lock, so it may be used beside a running server.",
    })
public final class TreeCommand implements Callable<Integer> {
  /** Partings that are drawn; of those above only the number is shown. */
  private static final int MOST_LEVELS = 24;

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Mixin private ForestOptions forest;

  @Option(names = "--all", description = "a line for every boundary")
  private boolean all;

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

  private void forEach(StoreInspector store, RootReport root, Consumer<Stretch> consumer) {
    int blockTokens = RootText.namespace(store, root).layout().blockTokens();
    Stretches stretches =
        new Stretches(root.children(), blockTokens, forest.depthTokens(), all, consumer);
    store.forEachBoundary(root, stretches::add);
  }

  private void print(StoreInspector store, Output out) {
    long nowMillis = System.currentTimeMillis();
    Ansi ansi = spec.commandLine().getColorScheme().ansi();
    String point = ansi.string("@|bold,green *|@");
    for (RootReport root : forest.roots(store)) {
      out.line("%s", RootText.of(store, root));
      forEach(store, root, stretch -> line(stretch, point, nowMillis, out));
      out.line();
    }
    out.line(
        "%,d boundaries, %,d restore points in the store",
        store.summary().boundaries(), store.summary().points());
    Findings.print(store.findings(), out);
  }

  private static void line(Stretch stretch, String point, long nowMillis, Output out) {
    out.line(
        "%s%s %,d tokens  %,d %s, rows %s%s  %s ago  %s%s",
        indent(stretch),
        stretch.isPoint() ? point : "-",
        stretch.tokens(),
        stretch.blocks(),
        stretch.blocks() == 1 ? "block" : "blocks",
        Output.bytes(stretch.rowBytes()),
        stretch.pointBytes() == 0 ? "" : ", state " + Output.bytes(stretch.pointBytes()),
        Output.age(stretch.addedMillis(), nowMillis),
        stretch.key(),
        stretch.children() > 1 ? "  parts into " + stretch.children() : "");
  }

  private static String indent(Stretch stretch) {
    StringBuilder text = new StringBuilder();
    int from = Math.max(0, stretch.level() - MOST_LEVELS);
    if (from > 0) {
      text.append("(+").append(from).append(") ");
    }
    for (int level = from; level < stretch.level(); level++) {
      text.append(stretch.open()[level] ? "|  " : "   ");
    }
    boolean more = stretch.open()[stretch.level()];
    return text.append(stretch.isFirst() ? (more ? "|- " : "`- ") : more ? "|  " : "   ")
        .toString();
  }

  private void json(StoreInspector store, Output out) throws IOException {
    try (JsonGenerator to = out.stream("tree")) {
      to.writeArrayFieldStart("roots");
      for (RootReport root : forest.roots(store)) {
        ForestJson.start(root, to);
        to.writeArrayFieldStart("stretches");
        forEach(store, root, stretch -> ForestJson.write(stretch, to));
        to.writeEndArray();
        to.writeEndObject();
      }
      to.writeEndArray();
      ForestJson.findings(store, to);
      to.writeEndObject();
    }
  }
}
