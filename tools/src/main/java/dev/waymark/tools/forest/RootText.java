package dev.waymark.tools.forest;

import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.StoreInspector.RootReport;

/** The line over what stands under a root. */
final class RootText {
  private RootText() {}

  static String of(StoreInspector store, RootReport root) {
    NamespaceReport namespace = namespace(store, root);
    return "namespace %d (%s)%s, blocks of %,d tokens"
        .formatted(
            namespace.id(),
            namespace.fingerprint(),
            root.isTenant() ? ", tenant " + root.key() : "",
            namespace.layout().blockTokens());
  }

  static NamespaceReport namespace(StoreInspector store, RootReport root) {
    return store.namespaces().stream()
        .filter(namespace -> namespace.id() == root.namespaceId())
        .findFirst()
        .orElseThrow();
  }
}
