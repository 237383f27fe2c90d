package dev.waymark.tools.forest;

import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.StoreInspector.RootReport;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.tools.Numbers;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Option;

/** Which part of the forest to show. A mixin: picocli fills the fields in. */
public final class ForestOptions {
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
      converter = Numbers.PositiveInt.class,
      description = "only boundaries of prefixes of at most so many tokens")
  private int depthTokens = Integer.MAX_VALUE;

  /**
   * The roots that are asked for.
   *
   * @throws InvalidArgumentException if the namespace or tenant is not there
   */
  List<RootReport> roots(StoreInspector store) {
    NamespaceReport wanted = namespace == null ? null : namespace(store, namespace);
    List<RootReport> roots =
        store.roots().stream()
            .filter(root -> wanted == null || root.namespaceId() == wanted.id())
            .filter(root -> tenant == null || root.key().equals(tenant.toLowerCase(Locale.ROOT)))
            .toList();
    if (roots.isEmpty() && tenant != null) {
      throw unclear("tenant", "the 8 digits of a root key", 0);
    }
    return roots;
  }

  int depthTokens() {
    return depthTokens;
  }

  /**
   * The namespace that a number or 8 digits of a fingerprint name.
   *
   * @throws InvalidArgumentException if that is not exactly one
   */
  public static NamespaceReport namespace(StoreInspector store, String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    List<NamespaceReport> found =
        store.namespaces().stream()
            .filter(
                namespace ->
                    wanted.equals(Integer.toString(namespace.id()))
                        || wanted.equals(namespace.fingerprint()))
            .toList();
    if (found.size() != 1) {
      throw unclear("namespace", "the number or the 8 digits of one", found.size());
    }
    return found.get(0);
  }

  private static InvalidArgumentException unclear(String what, String expected, int found) {
    return new InvalidArgumentException(
        ErrorDetail.of("which " + what + " is meant is not clear")
            .expected(expected)
            .found(found == 0 ? "none" : found)
            .remedy("segtool ls lists them"));
  }
}
