package dev.waymark.tools.space;

import dev.waymark.KeptChain;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code segtool pin}: shows the chains that are kept against eviction, and releases them. Keeping
 * one takes its tokens, which only the server has.
 */
@Command(
    name = "pin",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the chains that are kept against eviction, or releases one.",
      "Opens the store for writing: fails at once where another process has it open."
    })
public final class PinCommand implements Callable<Integer> {
  @Parameters(paramLabel = "STORE", description = "The store's directory.")
  private Path store;

  @Option(
      names = "--release",
      paramLabel = "NAME",
      description = "Releases the chains of that name, in all namespaces.")
  private String release;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    StoreOptions options =
        StoreOptions.builder().createIfMissing(false).backgroundThread(false).build();
    try (SnapshotStore opened = SnapshotStore.open(store, options)) {
      if (release != null) {
        out.printf(Locale.ROOT, "released %,d%n", opened.maintenance().release(release));
      }
      for (KeptChain kept : opened.kept()) {
        out.printf(
            Locale.ROOT,
            "%s  %s  %,d tokens  %,d B%n",
            kept.namespace(),
            kept.name(),
            kept.tokens(),
            kept.bytes());
      }
    }
    out.flush();
    return 0;
  }
}
