package dev.waymark.tools.move;

import dev.waymark.StoreReader;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.NamespaceContent;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Finds the one namespace or restore point that a command line names. */
final class PointSelection {
  private final StoreReader store;
  private final List<NamespaceContent> namespaces;

  /**
   * Among a store's namespaces.
   *
   * @param fingerprint first digits of the one that is meant; null for all
   */
  PointSelection(StoreReader store, String fingerprint) {
    this.store = store;
    this.namespaces =
        store.namespaces().stream()
            .filter(
                namespace ->
                    fingerprint == null
                        || namespace
                            .fingerprint()
                            .toHex()
                            .startsWith(fingerprint.toLowerCase(Locale.ROOT)))
            .toList();
    if (fingerprint != null && namespaces.size() != 1) {
      throw new InvalidArgumentException(
          ErrorDetail.of("which namespace is meant is not clear")
              .expected("one namespace")
              .found(namespaces.size())
              .remedy("choose one that segtool inspect lists"));
    }
  }

  List<NamespaceContent> namespaces() {
    return namespaces;
  }

  boolean has(int namespaceId) {
    return namespaces.stream().anyMatch(namespace -> namespace.id() == namespaceId);
  }

  /** The restore point whose key begins like that. */
  Boundary point(String keyPrefix) {
    String prefix = keyPrefix.toLowerCase(Locale.ROOT);
    return one(boundary -> boundary.key().toHex().startsWith(prefix), "of that key");
  }

  /** The restore point with the most tokens. */
  Boundary deepest() {
    int[] most = {0};
    store.forEachBoundary(
        boundary -> {
          if (has(boundary.namespaceId()) && boundary.isRestorable()) {
            most[0] = Math.max(most[0], boundary.tokens());
          }
        });
    return one(
        boundary -> boundary.isRestorable() && boundary.tokens() == most[0],
        "with the most tokens");
  }

  private interface Test {
    boolean accepts(Boundary boundary);
  }

  private Boundary one(Test test, String what) {
    List<Boundary> found = new ArrayList<>();
    store.forEachBoundary(
        boundary -> {
          if (found.size() < 2 && has(boundary.namespaceId()) && test.accepts(boundary)) {
            found.add(boundary);
          }
        });
    if (found.size() != 1 || !found.get(0).isRestorable()) {
      throw new InvalidArgumentException(
          ErrorDetail.of("which restore point is meant is not clear")
              .expected("one restore point " + what)
              .found(
                  found.isEmpty()
                      ? "none"
                      : found.size() == 1 ? "a boundary that has only rows" : "several")
              .remedy("choose a restore point that segtool inspect --boundaries lists"));
    }
    return found.get(0);
  }
}
