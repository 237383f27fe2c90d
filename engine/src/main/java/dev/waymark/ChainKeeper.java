package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.layout.BoundaryKey;

/** Keeps chains against eviction under a name, durably. */
final class ChainKeeper {
  private final StoreEngine engine;

  ChainKeeper(StoreEngine engine) {
    this.engine = engine;
  }

  /**
   * Keeps the chain that ends in a restore point; a name that was used before stands for it now.
   */
  KeptChain keep(int namespaceId, BoundaryKey key, int tokens, String name) {
    engine.requireOpen();
    requireName(name);
    KeptChain kept =
        engine.publisher.write(
            () -> {
              int node = engine.forest.find(namespaceId, key);
              if (node == Forest.NONE || !engine.forest.isRestorable(node)) {
                throw new StaleMatchException(
                    ErrorDetail.of(
                            "the restore point at " + tokens + " tokens is not there any more")
                        .remedy("match again"));
              }
              engine.space.requireRoomBesideKept(node);
              engine.publisher.publish(
                  new Edit.ChainKept(namespaceId, key, name, engine.clockMillis.getAsLong()));
              return KeptChain.of(engine.forest, namespaceId, name, node);
            });
    engine.publisher.commit();
    return kept;
  }

  private static void requireName(String name) {
    if (!KeptChain.isName(name)) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a chain cannot be kept under that name")
              .expected(
                  "1 to "
                      + KeptChain.MOST_NAME_CHARS
                      + " characters, not all of them blank, none of control")
              .found("a name of " + name.length()));
    }
  }
}
