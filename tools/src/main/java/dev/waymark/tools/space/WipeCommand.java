package dev.waymark.tools.space;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.Deletion;
import dev.waymark.EvictionReport;
import dev.waymark.SnapshotStore;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Output;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code segtool wipe}: deletes a namespace, a tenant, or what is old. */
@Command(
    name = "wipe",
    mixinStandardHelpOptions = true,
    description = {
      "Deletes what a namespace or a tenant has stored, or what was stored longer ago than an age;"
          + " of several conditions all have to hold.",
      "Says what would go, without a lock and without a write; with --apply it opens the store for"
          + " writing and does it, or fails at once where another process has it open.",
    })
public final class WipeCommand implements Callable<Integer> {
  private static final int MOST_SHOWN = 20;

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(
      names = "--namespace",
      paramLabel = "N|FINGERPRINT",
      description =
          "that namespace, its tenants and kept chains included: its number, or 8 or more digits of"
              + " its fingerprint")
  private String namespace;

  @Option(
      names = "--tenant",
      paramLabel = "KEY",
      description =
          "that tenant, its kept chains included: 8 or more digits of the root key that ls lists")
  private String tenant;

  @Option(
      names = "--older-than",
      paramLabel = "AGE",
      converter = Age.class,
      description =
          "what was stored longer ago than that, such as 90s, 15min, 12h or 30d, however often it"
              + " was used since; what is kept by name stays")
  private Duration olderThan;

  @Option(names = "--apply", description = "do it; without this nothing is changed")
  private boolean apply;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() {
    if (namespace == null && tenant == null && olderThan == null) {
      throw new ParameterException(
          spec.commandLine(), "wipe takes --namespace, --tenant or --older-than, or several");
    }
    Deletion deletion = new Deletion(namespace, tenant, olderThan);
    EvictionReport report;
    if (apply) {
      try (SnapshotStore store = OpenedStore.at(path)) {
        report = store.maintenance().delete(deletion, false);
      }
    } else {
      report = deletion.preview(path);
    }
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(json(report));
      } else {
        print(report, out);
      }
    }
    return ExitCodes.OK;
  }

  private void print(EvictionReport report, Output out) {
    List<EvictionReport.Chain> chains = joined(report.chains());
    for (EvictionReport.Chain chain : chains.subList(0, Math.min(MOST_SHOWN, chains.size()))) {
      out.line(
          "namespace %s, %s: %,d to %,d tokens, %s",
          chain.namespace(),
          chain.key(),
          chain.fromTokens(),
          chain.toTokens(),
          Output.bytes(chain.freedBytes()));
    }
    if (chains.size() > MOST_SHOWN || report.chains().size() == EvictionReport.MOST_CHAINS) {
      out.line("and more");
    }
    out.line(
        "%s %,d boundaries and %,d restore points, %s.",
        apply ? "Deleted" : "Would delete",
        report.boundaries(),
        report.points(),
        Output.bytes(report.freedBytes()));
    if (!apply) {
      out.line("Nothing was changed. Run it again with --apply to do so.");
    }
  }

  /** A chain goes boundary by boundary, from its end; people want it as one. */
  private static List<EvictionReport.Chain> joined(List<EvictionReport.Chain> pieces) {
    List<EvictionReport.Chain> chains = new ArrayList<>();
    for (EvictionReport.Chain next : pieces) {
      int last = chains.size() - 1;
      EvictionReport.Chain before = last < 0 ? null : chains.get(last);
      if (before != null
          && before.namespace().equals(next.namespace())
          && before.fromTokens() == next.toTokens()) {
        chains.set(
            last,
            new EvictionReport.Chain(
                before.namespace(),
                before.key(),
                next.fromTokens(),
                before.toTokens(),
                before.boundaries() + next.boundaries(),
                before.freedBytes() + next.freedBytes(),
                before.reason()));
      } else {
        chains.add(next);
      }
    }
    return chains;
  }

  private ObjectNode json(EvictionReport report) {
    ObjectNode root = Output.envelope("wipe");
    root.put("applied", apply);
    root.put("boundaries", report.boundaries());
    root.put("restore_points", report.points());
    root.put("freed_bytes", report.freedBytes());
    ArrayNode chains = root.putArray("chains");
    for (EvictionReport.Chain chain : report.chains()) {
      chains
          .addObject()
          .put("namespace", chain.namespace())
          .put("key", chain.key())
          .put("from_tokens", chain.fromTokens())
          .put("to_tokens", chain.toTokens())
          .put("boundaries", chain.boundaries())
          .put("freed_bytes", chain.freedBytes());
    }
    return root;
  }

  /** Reads an age. */
  static final class Age implements ITypeConverter<Duration> {
    private static final Pattern AGE = Pattern.compile("([0-9]{1,9})(s|min|h|d)");

    @Override
    public Duration convert(String text) {
      Matcher matcher = AGE.matcher(text);
      if (!matcher.matches()) {
        throw new TypeConversionException(
            "expected an age such as 90s, 15min, 12h or 30d, found '" + text + "'");
      }
      long number = Long.parseLong(matcher.group(1));
      return switch (matcher.group(2)) {
        case "s" -> Duration.ofSeconds(number);
        case "min" -> Duration.ofMinutes(number);
        case "h" -> Duration.ofHours(number);
        default -> Duration.ofDays(number);
      };
    }
  }
}
