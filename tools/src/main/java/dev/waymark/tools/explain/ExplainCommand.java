package dev.waymark.tools.explain;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.MissReason;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.BoundaryDetail;
import dev.waymark.StoreInspector.Explanation;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import dev.waymark.tools.forest.ForestOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Says why a match is no deeper, or why a boundary is no restore point. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    description = {
      "Says why the match of a prompt reaches no deeper, in each namespace; or of a boundary,"
          + " whether it can be restored, and why not. Never shows a token.",
      "Writes nothing and takes no lock, so it may be used beside a running server. What was dropped"
          + " is known until the next checkpoint of the manifest.",
    })
public final class ExplainCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Parameters(
      index = "1",
      paramLabel = "KEY|TOKENS-FILE",
      description =
          "8 or more digits of a boundary's key, or a file with the token ids of a prompt, such as"
              + " [17, 4, 90]")
  private String subject;

  @Option(
      names = "--namespace",
      paramLabel = "N|FINGERPRINT",
      description = "only that namespace: its number, or the 8 digits that it is listed with")
  private String namespace;

  @Option(
      names = "--salt-file",
      paramLabel = "FILE",
      description = "file with the salt of a tenant, byte for byte: the prompt is the tenant's")
  private Path saltFile;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    StoreInspector store = StoreInspector.open(path);
    Path file = Path.of(subject);
    boolean isKey = !Files.exists(file) && subject.matches("[0-9A-Fa-f]{8,64}");
    return isKey ? boundary(store) : prompt(store, file);
  }

  // A prompt

  private int prompt(StoreInspector store, Path file) throws IOException {
    byte[] salt = saltFile == null ? null : Files.readAllBytes(saltFile);
    int[] tokens = TokensFile.read(file);
    List<NamespaceReport> namespaces =
        namespace == null ? store.namespaces() : List.of(ForestOptions.namespace(store, namespace));
    try (Output out = new Output(spec.commandLine().getOut())) {
      ObjectNode root = Output.envelope("explain");
      ArrayNode list = root.put("prompt_tokens", tokens.length).putArray("namespaces");
      for (NamespaceReport report : namespaces) {
        Explanation explanation = store.explain(report.id(), salt, tokens);
        if (json) {
          add(report, explanation, list.addObject());
        } else {
          print(report, explanation, out);
        }
      }
      Findings.add(store.findings(), root);
      if (json) {
        out.json(root);
      } else if (namespaces.isEmpty()) {
        out.line("The store has no namespace yet: nothing was ever stored.");
      }
      if (!json) {
        Findings.print(store.findings(), out);
      }
    }
    return Findings.damageCode(store);
  }

  private static void print(NamespaceReport namespace, Explanation explanation, Output out) {
    out.line("namespace %d (%s)", namespace.id(), namespace.fingerprint());
    out.line("  %s", explanation.sentence());
    if (!explanation.points().isEmpty()) {
      out.line(
          "  restorable at %s; the deepest reads %s",
          explanation.points().stream().map(Output::count).collect(Collectors.joining(", ")),
          Output.bytes(explanation.bytesToRead()));
    }
    if (explanation.branchTokens() > 0) {
      out.line(
          "  it leaves what is stored at %,d tokens, where others go on",
          explanation.branchTokens());
    }
  }

  private static void add(NamespaceReport namespace, Explanation explanation, ObjectNode node) {
    node.put("namespace", namespace.id());
    node.put("fingerprint", namespace.fingerprint());
    node.put("stored_tokens", explanation.storedTokens());
    ArrayNode points = node.putArray("restorable_tokens");
    explanation.points().forEach(points::add);
    node.put("branch_tokens", explanation.branchTokens());
    node.put("bytes_to_read", explanation.bytesToRead());
    node.put("why", explanation.why().name());
    node.put("text", explanation.sentence());
  }

  // A boundary

  private int boundary(StoreInspector store) {
    if (saltFile != null) {
      throw new ParameterException(spec.commandLine(), "--salt-file goes with a file of token ids");
    }
    List<BoundaryDetail> found =
        store.find(subject).stream()
            .filter(
                detail ->
                    namespace == null
                        || ForestOptions.namespace(store, namespace).id()
                            == detail.boundary().namespaceId())
            .toList();
    List<MissReason> dropped = found.isEmpty() ? store.droppedWhy(subject) : List.of();
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        ObjectNode root = Output.envelope("explain");
        ArrayNode list = root.putArray("boundaries");
        found.forEach(detail -> add(detail, list.addObject()));
        ArrayNode reasons = root.putArray("dropped_why");
        dropped.forEach(reason -> reasons.add(reason.name()));
        Findings.add(store.findings(), root);
        out.json(root);
      } else {
        found.forEach(detail -> out.line("%s", sentence(detail)));
        dropped.forEach(
            reason -> out.line("That boundary is not stored any more: %s.", became(reason)));
        if (found.isEmpty() && dropped.isEmpty()) {
          out.line("No such boundary is stored; whether there was one is not known.");
        }
        Findings.print(store.findings(), out);
      }
    }
    int damage = Findings.damageCode(store);
    return damage == ExitCodes.OK && found.isEmpty() ? ExitCodes.FAILURE : damage;
  }

  private static void add(BoundaryDetail detail, ObjectNode node) {
    node.put("namespace", detail.boundary().namespaceId());
    node.put("key", detail.boundary().key());
    node.put("tokens", detail.boundary().tokens());
    node.put("restorable", detail.boundary().isPoint());
    node.put("deepest_point_tokens", detail.deepestPointTokens());
    node.put("restore_bytes", detail.restoreBytes());
    node.put("window_covered", detail.windowCovered());
    node.put("why", detail.why().name());
    node.put("text", sentence(detail));
  }

  private static String sentence(BoundaryDetail detail) {
    String what =
        "The boundary at %,d tokens of namespace %d"
            .formatted(detail.boundary().tokens(), detail.boundary().namespaceId());
    if (detail.boundary().isPoint()) {
      return what
          + " can be restored; that reads "
          + Output.bytes(detail.restoreBytes())
          + (detail.boundary().children() == 0 ? "; nothing is stored beyond it." : ".");
    }
    String instead =
        detail.deepestPointTokens() == 0
            ? "no boundary above it can be restored either"
            : "the deepest above it that can is at %,d tokens"
                .formatted(detail.deepestPointTokens());
    String reason =
        detail.why() == MissReason.NO_STATE
            ? "it has only rows: its policy put no point there, or that went longer ago than the"
                + " manifest says"
            : "its point is not there any more: " + became(detail.why());
    return "%s cannot be restored: %s; %s.".formatted(what, reason, instead);
  }

  private static String became(MissReason reason) {
    return switch (reason) {
      case EVICTED -> "it made room for others, or newer points superseded it";
      case REMOVED -> "it was taken back or wiped";
      case DAMAGED -> "it, or what it stands on, was damaged";
      default -> "why is not known";
    };
  }
}
