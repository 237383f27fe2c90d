package dev.waymark.tools.forest;

import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.StoreInspector.RootReport;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Which part of the forest to show. A mixin: picocli fills the fields in. */
public final class ForestOptions {
  @Spec(Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--namespace",
      paramLabel = "N|FINGERPRINT",
      description = "only that namespace: its number, or the 8 digits that it is listed with")
  private String namespace;

  @Option(
      names = "--tenant",
      paramLabel = "KEY",
      description = "only that tenant: the 8 digits of the root key that it is listed with")
  private String tenant;

  @Option(
      names = "--depth",
      paramLabel = "TOKENS",
      description = "only boundaries of prefixes of at most so many tokens")
  private int depthTokens = Integer.MAX_VALUE;

  /**
   * The roots that are asked for.
   *
   * @throws ParameterException if none fits
   */
  List<RootReport> roots(StoreInspector store) {
    NamespaceReport wanted = namespace == null ? null : namespace(store, namespace, spec);
    List<RootReport> roots =
        store.roots().stream()
            .filter(root -> wanted == null || root.namespaceId() == wanted.id())
            .filter(root -> tenant == null || root.key().equals(tenant.toLowerCase(Locale.ROOT)))
            .toList();
    if (roots.isEmpty() && tenant != null) {
      throw new ParameterException(
          spec.commandLine(), "--tenant names no root key of 8 hex digits that ls lists");
    }
    return roots;
  }

  int depthTokens() {
    return depthTokens;
  }

  /**
   * The namespace that a number or 8 digits of a fingerprint name.
   *
   * @throws ParameterException if that is not exactly one
   */
  public static NamespaceReport namespace(StoreInspector store, String name, CommandSpec spec) {
    String wanted = name.toLowerCase(Locale.ROOT);
    List<NamespaceReport> found =
        store.namespaces().stream()
            .filter(
                namespace ->
                    wanted.equals(Integer.toString(namespace.id()))
                        || wanted.equals(namespace.fingerprint()))
            .toList();
    if (found.size() != 1) {
      throw new ParameterException(
          spec.commandLine(),
          "--namespace takes the number or the 8 digits of one of "
              + store.namespaces().size()
              + " namespaces; inspect lists them");
    }
    return found.get(0);
  }
}
