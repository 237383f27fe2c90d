package dev.waymark.tools.space;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.KeptChain;
import dev.waymark.Maintenance;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreInspector;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Output;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code segtool pin}: chains that are kept against eviction under a name. */
@Command(
    name = "pin",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the chains that are kept against eviction; keeps one more, or releases one, first.",
      "Listing takes no lock, and may run beside a writer. --keep and --release open the store for",
      "writing, and fail at once where another process has it open.",
    })
public final class PinCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(
      names = "--keep",
      paramLabel = "NAME",
      description =
          "keep the chain that --boundary or --deepest names; a name that is in use stands for the"
              + " new chain")
  private String keep;

  @Option(
      names = "--boundary",
      paramLabel = "KEY",
      description =
          "first hex digits of a restore point's key, 8 or more, as inspect --boundaries shows them")
  private String boundary;

  @Option(names = "--deepest", description = "the restore point with the most tokens")
  private boolean deepest;

  @Option(names = "--release", paramLabel = "NAME", description = "release the chains of that name")
  private String release;

  @Option(
      names = "--namespace",
      paramLabel = "FINGERPRINT",
      description =
          "only in the namespace whose fingerprint begins with these hex digits, up to 8, as inspect"
              + " shows them (default: all)")
  private String namespace = "";

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() {
    checkUsage();
    int released = 0;
    KeptChain added = null;
    if (keep != null || release != null) {
      try (SnapshotStore store = OpenedStore.at(path)) {
        Maintenance maintenance = store.maintenance();
        if (release != null) {
          released = maintenance.release(namespace, release);
        } else {
          added =
              deepest
                  ? maintenance.keepDeepest(namespace, keep)
                  : maintenance.keep(namespace, boundary, keep);
        }
      }
    }
    String digits = namespace.toLowerCase(Locale.ROOT);
    List<KeptChain> kept =
        StoreInspector.open(path).kept().stream()
            .filter(chain -> chain.namespace().toHex().startsWith(digits))
            .toList();
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(json(released, added, kept));
      } else {
        print(released, added, kept, out);
      }
    }
    return release != null && released == 0 ? ExitCodes.FAILURE : ExitCodes.OK;
  }

  private void checkUsage() {
    if (keep != null && deepest == (boundary != null)) {
      throw usage("--keep takes either --boundary or --deepest");
    }
    if (keep == null && (deepest || boundary != null)) {
      throw usage("--boundary and --deepest go with --keep");
    }
    if (keep != null && release != null) {
      throw usage("--keep and --release are done one at a time");
    }
    if (!namespace.matches("[0-9A-Fa-f]{0,8}")) {
      throw usage("--namespace takes up to 8 hex digits");
    }
    if (boundary != null && !boundary.matches("[0-9A-Fa-f]{8,64}")) {
      throw usage("--boundary takes 8 to 64 hex digits");
    }
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private void print(int released, KeptChain added, List<KeptChain> kept, Output out) {
    if (release != null) {
      out.line(released == 0 ? "No chain is kept as %s." : "Released %s.", release);
    }
    if (added != null) {
      out.line("Kept %s: %,d tokens, %s.", keep, added.tokens(), Output.bytes(added.bytes()));
    }
    if (kept.isEmpty()) {
      out.line("No chains are kept.");
      return;
    }
    out.line("%-10s %-10s %10s %10s  %s", "namespace", "key", "tokens", "bytes", "name");
    for (KeptChain chain : kept) {
      out.line(
          "%-10s %-10s %,10d %10s  %s",
          chain.namespace().abbreviated(),
          chain.key().abbreviated(),
          chain.tokens(),
          Output.bytes(chain.bytes()),
          chain.name());
    }
  }

  private ObjectNode json(int released, KeptChain added, List<KeptChain> kept) {
    ObjectNode root = Output.envelope("pin");
    if (release != null) {
      root.put("released", released);
      if (released == 0) {
        Output.error(
            root,
            "INVALID_ARGUMENT",
            "no chain is kept under that name",
            "choose one of those that are listed",
            ExitCodes.FAILURE);
      }
    }
    if (added != null) {
      put(root.putObject("added"), added);
    }
    ArrayNode list = root.putArray("kept");
    kept.forEach(chain -> put(list.addObject(), chain));
    return root;
  }

  private static void put(ObjectNode node, KeptChain chain) {
    node.put("namespace", chain.namespace().abbreviated());
    node.put("key", chain.key().abbreviated());
    node.put("name", chain.name());
    node.put("tokens", chain.tokens());
    node.put("bytes", chain.bytes());
  }
}
