package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import java.util.ArrayList;
import java.util.List;

/** Finds the one thing that an operator means by a number or by the first digits of a key. */
final class Choice {
  private Choice() {}

  /**
   * A namespace, by its number or the first 8 or more hex digits of its fingerprint.
   *
   * @throws InvalidArgumentException if it is not there, or not the only one
   */
  static NamespaceState namespace(Forest forest, String name) {
    List<NamespaceState> found;
    if (name.matches("[0-9]{1,7}")) {
      int id = Integer.parseInt(name);
      found = forest.namespaces().stream().filter(state -> state.id() == id).toList();
    } else {
      String prefix = KeyPrefix.check(name);
      found =
          forest.namespaces().stream()
              .filter(state -> KeyPrefix.matches(state.fingerprint(), prefix))
              .toList();
    }
    return only(found, "namespace", name);
  }

  /**
   * The root of a tenant, by the first 8 or more hex digits of its key.
   *
   * @param namespaceId where it has to be; 0 for anywhere
   * @throws InvalidArgumentException if it is not there, or not the only one
   */
  static int root(Forest forest, int namespaceId, String tenant) {
    String prefix = KeyPrefix.check(tenant);
    List<Integer> found = new ArrayList<>();
    forest.forEachRoot(
        node -> {
          if (KeyPrefix.matches(forest.key(node), prefix)
              && (namespaceId == 0 || forest.namespaceOf(node).id() == namespaceId)) {
            found.add(node);
          }
        });
    return only(found, "tenant", tenant);
  }

  private static <T> T only(List<T> found, String what, String name) {
    if (found.size() != 1) {
      throw new InvalidArgumentException(
          ErrorDetail.of("which " + what + " is meant is not clear")
              .expected("one that " + name + " names")
              .found(found.isEmpty() ? "none" : found.size())
              .remedy("segtool ls lists them"));
    }
    return found.get(0);
  }
}
