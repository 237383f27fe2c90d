package dev.waymark.tools.estimate;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.Estimate;
import dev.waymark.PrefillPlan;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.StoreOptions;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Numbers;
import dev.waymark.tools.Output;
import dev.waymark.tools.forest.ForestOptions;
import dev.waymark.tools.replay.LayoutChoice;
import dev.waymark.tools.replay.Policy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Says what a prompt of so many tokens costs under each policy and codec. */
@Command(
    name = "estimate",
    mixinStandardHelpOptions = true,
    description = {
      "Says what storing a prompt of so many tokens costs, of which nothing is stored yet, under"
          + " each policy of restore points and each codec: for a layout by name or from a file, or"
          + " for a namespace of a store.",
      "Counted by what decides when a prompt is stored. Sizes of a lossless codec are the most that"
          + " it takes (<=).",
    })
public final class EstimateCommand implements Callable<Integer> {
  private static final String ROW = "%-12s %-22s %11s %11s %7s %9s %11s %11s";
  private static final int BLOCK_TOKENS = 256;

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "STORE",
      arity = "0..1",
      description = "directory of a store, whose namespace's layout and codecs to take")
  private Path path;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      required = true,
      converter = Numbers.PositiveInt.class,
      description = "length of the prompt in tokens, 1 to 2147483647")
  private int tokens;

  @Option(
      names = "--layout",
      paramLabel = "L1..L9|FILE",
      converter = LayoutChoice.Converter.class,
      description = "what the model's state is made of: a name as replay knows it, or a JSON file")
  private LayoutChoice layoutChoice;

  @Option(
      names = "--namespace",
      paramLabel = "N|FINGERPRINT",
      description =
          "which namespace of the store: its number, or the 8 digits that it is listed with"
              + " (default: the only one)")
  private String namespace;

  @Option(
      names = "--block",
      paramLabel = "TOKENS",
      converter = Numbers.PositiveInt.class,
      description = "tokens a block (default: the layout's own, else 256)")
  private Integer blockTokens;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      converter = Policy.Converter.class,
      description =
          "only that: every, stride:N (every N blocks), lattice, lattice:BUDGET (0.25 or 25%% of the"
              + " row bytes) or last (default: all of them, stride with 8 blocks)")
  private Policy policy;

  @Option(
      names = "--quota",
      paramLabel = "SIZE",
      defaultValue = "100GiB",
      converter = Numbers.Size.class,
      description =
          "the store's quota, which the size of segments follows (default: ${DEFAULT-VALUE})")
  private long quotaBytes;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  /** What is estimated for. */
  private record Subject(String name, Layout layout, Map<String, CodecPlan> codecs) {}

  @Override
  public Integer call() {
    if ((path == null) == (layoutChoice == null)) {
      throw usage("estimate takes either a STORE or --layout");
    }
    Subject subject = path == null ? ofLayout() : ofStore();
    StoreOptions options = StoreOptions.builder().quota(quotaBytes).build();
    List<Row> rows = new ArrayList<>();
    policies()
        .forEach(
            (policyName, chosen) ->
                subject
                    .codecs()
                    .forEach(
                        (codecName, plan) ->
                            rows.add(
                                new Row(
                                    policyName,
                                    codecName,
                                    Estimate.of(
                                        subject.layout(),
                                        plan,
                                        PrefillPlan.tokens(tokens).policy(chosen.toRestorePolicy()),
                                        options)))));
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(json(subject, rows));
      } else {
        print(subject, rows, out);
      }
    }
    return ExitCodes.OK;
  }

  private record Row(String policy, String codec, Estimate estimate) {}

  private Subject ofLayout() {
    int block = blockTokens == null ? layoutChoice.blockTokens().orElse(BLOCK_TOKENS) : blockTokens;
    Layout layout = layoutChoice.layout(block);
    return new Subject(layoutChoice.name(), layout, codecs(layout));
  }

  private static Map<String, CodecPlan> codecs(Layout layout) {
    Map<String, CodecPlan> codecs = new LinkedHashMap<>();
    codecs.put("raw", CodecPlan.RAW);
    codecs.put("planes", CodecPlan.PLANES);
    if (layout.fixedBytes() > 0) {
      for (Codec codec : Codec.values()) {
        if (codec.isLossy()) {
          codecs.put(
              "planes, state " + codec.name().toLowerCase(Locale.ROOT),
              CodecPlan.PLANES.withFixed(codec));
        }
      }
    }
    return codecs;
  }

  private Subject ofStore() {
    StoreInspector store = StoreInspector.open(path);
    NamespaceReport found;
    if (namespace != null) {
      found = ForestOptions.namespace(store, namespace);
    } else if (store.namespaces().size() == 1) {
      found = store.namespaces().get(0);
    } else {
      throw new InvalidArgumentException(
          ErrorDetail.of("which namespace is meant is not clear")
              .expected("a store with one namespace, or --namespace")
              .found(store.namespaces().size() + " namespaces")
              .remedy("segtool ls lists them"));
    }
    Layout layout =
        blockTokens == null ? found.layout() : Layout.of(blockTokens, found.layout().tensors());
    Map<String, CodecPlan> codecs = new LinkedHashMap<>();
    codecs.put("as it is stored", found.codecs());
    codecs(layout)
        .forEach(
            (name, plan) -> {
              if (!plan.equals(found.codecs())) {
                codecs.put(name, plan);
              }
            });
    return new Subject("namespace " + found.id(), layout, codecs);
  }

  private Map<String, Policy> policies() {
    Map<String, Policy> policies = new LinkedHashMap<>();
    if (policy != null) {
      policies.put(name(policy), policy);
      return policies;
    }
    for (Policy each :
        List.of(
            new Policy.Every(),
            new Policy.Stride(8),
            new Policy.Lattice(OptionalDouble.empty()),
            new Policy.Last())) {
      policies.put(name(each), each);
    }
    return policies;
  }

  private static String name(Policy policy) {
    return switch (policy.toRestorePolicy().kind()) {
      case EVERY -> "every";
      case STRIDE -> "stride:" + policy.toRestorePolicy().argument();
      case LATTICE -> "lattice:" + policy.toRestorePolicy().argument() + "%";
      case LAST -> "last";
    };
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private void print(Subject subject, List<Row> rows, Output out) {
    Estimate any = rows.get(0).estimate();
    out.line(
        "%s, %,d tokens in blocks of %,d: %s of state in the model's own memory",
        subject.name(), tokens, subject.layout().blockTokens(), Output.bytes(any.memoryBytes()));
    out.line();
    out.line(
        ROW, "policy", "codec", "written", "allocated", "points", "gap", "restore", "in flight");
    for (Row row : rows) {
      Estimate estimate = row.estimate();
      out.line(
          ROW,
          row.policy(),
          row.codec(),
          (estimate.dataDependent() ? "<= " : "") + Output.bytes(estimate.writtenBytes()),
          Output.bytes(estimate.allocatedBytes()),
          Output.count(estimate.restorePoints()),
          Output.count(estimate.widestGapTokens()),
          Output.bytes(estimate.restoreBytes()),
          Output.bytes(estimate.inFlightBytes()));
    }
    out.line();
    out.line(
        "written: records with their padding; allocated: most that segments grow by; gap: most"
            + " tokens to compute anew where a later prompt leaves this one; restore: most that a"
            + " restore at the last point reads; in flight: most that waits for a force.");
  }

  private ObjectNode json(Subject subject, List<Row> rows) {
    ObjectNode root = Output.envelope("estimate");
    root.put("layout", subject.name());
    root.put("tokens", tokens);
    root.put("block_tokens", subject.layout().blockTokens());
    root.put("memory_bytes", rows.get(0).estimate().memoryBytes());
    ArrayNode list = root.putArray("estimates");
    for (Row row : rows) {
      Estimate estimate = row.estimate();
      list.addObject()
          .put("policy", row.policy())
          .put("codec", row.codec())
          .put("appended_bytes", estimate.appendedBytes())
          .put("written_bytes", estimate.writtenBytes())
          .put("most_written_bytes", estimate.mostWrittenBytes())
          .put("data_dependent", estimate.dataDependent())
          .put("allocated_bytes", estimate.allocatedBytes())
          .put("restore_points", estimate.restorePoints())
          .put("widest_gap_tokens", estimate.widestGapTokens())
          .put("restore_bytes", estimate.restoreBytes())
          .put("in_flight_bytes", estimate.inFlightBytes());
    }
    return root;
  }
}
