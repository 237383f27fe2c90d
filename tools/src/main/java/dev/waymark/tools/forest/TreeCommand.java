package dev.waymark.tools.forest;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.RootReport;
import dev.waymark.tools.Output;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Option;

/** Draws the prefix forest. */
@Command(
    name = "tree",
    mixinStandardHelpOptions = true,
    description = {
      "Draws the prefix forest: a line for each piece of a chain that ends at a restore point (*),"
          + " where chains part, or where nothing more is stored (-: only rows).",
      "Writes nothing and takes no lock, so it may be used beside a running server.",
    })
public final class TreeCommand extends ForestCommand {
  /** Partings that are drawn; of those above only the number is shown. */
  private static final int MOST_LEVELS = 24;

  private final long nowMillis = System.currentTimeMillis();

  @Option(names = "--all", description = "a line for every boundary")
  private boolean all;

  private void forEach(StoreInspector store, RootReport root, Consumer<Stretch> consumer) {
    int blockTokens = RootText.namespace(store, root).layout().blockTokens();
    Stretches stretches = new Stretches(root.children(), blockTokens, depthTokens(), all, consumer);
    store.forEachBoundary(root, stretches::add);
  }

  @Override
  void print(StoreInspector store, RootReport root, Output out) {
    Ansi ansi = spec().commandLine().getColorScheme().ansi();
    String point = ansi.string("@|bold,green *|@");
    forEach(store, root, stretch -> line(stretch, point, out));
  }

  @Override
  void printEnd(StoreInspector store, Output out) {
    out.line(
        "%,d boundaries, %,d restore points in the store",
        store.summary().boundaries(), store.summary().points());
  }

  private void line(Stretch stretch, String point, Output out) {
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

  @Override
  String listName() {
    return "stretches";
  }

  @Override
  void write(StoreInspector store, RootReport root, JsonGenerator to) {
    forEach(store, root, stretch -> ForestJson.write(stretch, to));
  }
}
