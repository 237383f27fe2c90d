package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.check.StoreLook;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.retain.Victim;
import dev.waymark.internal.retain.Wipe;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * What an operator wants to be gone: the boundaries that fit every condition that is set.
 *
 * @param namespace number of a namespace, or the first 8 or more hex digits of its fingerprint;
 *     null for any
 * @param tenant first 8 or more hex digits of a tenant's root key, as {@link
 *     StoreInspector#roots()} shows it; null for any
 * @param olderThan what was added longer ago than that, however often it was used since; null for
 *     any age
 */
public record Deletion(String namespace, String tenant, Duration olderThan) {
  /** Longer than any store has been there, and far from where milliseconds end. */
  private static final Duration LONGEST_AGE = Duration.ofDays(365L * 1_000);

  /**
   * Requires a condition: nobody deletes a whole store by forgetting one.
   *
   * @param namespace number of a namespace, or the first 8 or more hex digits of its fingerprint;
   *     null for any
   * @param tenant first 8 or more hex digits of a tenant's root key, as {@link
   *     StoreInspector#roots()} shows it; null for any
   * @param olderThan what was added longer ago than that, however often it was used since; null for
   *     any age
   * @throws InvalidArgumentException if all of them are null, or the age is less than nothing or
   *     longer than there are clocks
   */
  public Deletion {
    if (namespace == null && tenant == null && olderThan == null) {
      throw new InvalidArgumentException(
          ErrorDetail.of("nothing says what to delete")
              .expected("a namespace, a tenant or an age")
              .found("none"));
    }
    if (olderThan != null) {
      requireAge(olderThan);
    }
  }

  /** Refuses what is no age. */
  static void requireAge(Duration age) {
    if (age.isNegative() || age.compareTo(LONGEST_AGE) > 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("that is no age")
              .expected("0 to " + LONGEST_AGE.toDays() + " days")
              .found(age));
    }
  }

  /**
   * {@return everything in a namespace, tenants and kept chains included, and the namespace itself}
   *
   * @param namespace its number, or the first 8 or more hex digits of its fingerprint
   */
  public static Deletion ofNamespace(String namespace) {
    return new Deletion(namespace, null, null);
  }

  /**
   * {@return everything of a tenant, kept chains included}
   *
   * @param tenant first 8 or more hex digits of its root key, as {@link StoreInspector#roots()}
   *     shows it
   */
  public static Deletion ofTenant(String tenant) {
    return new Deletion(null, tenant, null);
  }

  /**
   * {@return what was added longer ago than that, in all namespaces; what is kept stays}
   *
   * @param age how long ago
   */
  public static Deletion ofOlderThan(Duration age) {
    return new Deletion(null, null, age);
  }

  /**
   * What deleting it would do to the store in a directory. Takes no lock and writes nothing; what a
   * writer holds at that moment would stay, and is counted nevertheless.
   *
   * @param path the directory of the store
   * @return what would go
   * @throws InvalidArgumentException if the namespace or tenant is not there, or not the only one
   * @throws dev.waymark.error.NotAStoreException if there is no store
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote it
   * @throws dev.waymark.error.CorruptionException if CURRENT or its manifest is damaged
   * @throws dev.waymark.error.MovingException if a writer moved on at every look
   */
  public EvictionReport preview(Path path) {
    try (StoreDirectory directory = RealDirectory.openReadOnly(path)) {
      Forest forest = StoreLook.at(directory, System::currentTimeMillis).forest();
      IntPredicate wanted = wanted(forest, System.currentTimeMillis());
      return Wiping.preview(forest, new Wipe(forest, wanted, keptToo(), reason()));
    }
  }

  /** The namespace that goes as a whole, or null. */
  NamespaceState wholeNamespace(Forest forest) {
    return namespace != null && tenant == null && olderThan == null
        ? Choice.namespace(forest, namespace)
        : null;
  }

  Victim.Reason reason() {
    return olderThan == null ? Victim.Reason.ASKED : Victim.Reason.AGE;
  }

  /** An age does not let go of what someone keeps. */
  boolean keptToo() {
    return olderThan == null;
  }

  /** The kept chains to release first. */
  List<Edit> releases(Forest forest, IntPredicate wanted) {
    return !keptToo()
        ? List.of()
        : forest.kept().stream()
            .filter(kept -> wanted.test(kept.node()))
            .<Edit>map(kept -> new Edit.ChainReleased(kept.namespaceId(), kept.name()))
            .toList();
  }

  /**
   * Whether a node fits.
   *
   * @throws InvalidArgumentException if the namespace or tenant is not there, or not the only one
   */
  IntPredicate wanted(Forest forest, long nowMillis) {
    int namespaceId = namespace == null ? 0 : Choice.namespace(forest, namespace).id();
    int root = tenant == null ? Forest.NONE : Choice.root(forest, namespaceId, tenant);
    long before = olderThan == null ? Long.MAX_VALUE : nowMillis - olderThan.toMillis();
    return node ->
        (namespaceId == 0 || forest.namespaceOf(node).id() == namespaceId)
            && forest.addedMillis(node) < before
            && (root == Forest.NONE || rootOf(forest, node) == root);
  }

  private static int rootOf(Forest forest, int node) {
    int root = node;
    while (!forest.isRoot(root)) {
      root = forest.parent(root);
    }
    return root;
  }
}
