package dev.waymark;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.retain.Victim;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Adds up victims for a report, before they are dropped. Inside a read or write of publishing. */
final class Tally {
  private final Forest forest;
  private final List<EvictionReport.Chain> chains = new ArrayList<>();
  private long boundaries;
  private long points;
  private long freedBytes;

  Tally(Forest forest) {
    this.forest = forest;
  }

  void add(Victim victim) {
    int leaf = victim.leaf();
    int top = victim.nodes().get(victim.nodes().size() - 1);
    boundaries += victim.nodes().size();
    victim.nodes().forEach(node -> points += forest.isPoint(node) ? 1 : 0);
    freedBytes += victim.freedBytes();
    if (chains.size() < EvictionReport.MOST_CHAINS) {
      chains.add(
          new EvictionReport.Chain(
              forest.namespaceOf(leaf).fingerprint().abbreviated(),
              forest.key(leaf).abbreviated(),
              forest.tokens(forest.parent(top)),
              forest.tokens(leaf),
              victim.nodes().size(),
              victim.freedBytes(),
              victim.reason().name().toLowerCase(Locale.ROOT)));
    }
  }

  /** Boundaries and points that went up to now. */
  long evicted() {
    return boundaries + points;
  }

  EvictionReport report() {
    return new EvictionReport(boundaries, points, freedBytes, List.copyOf(chains));
  }
}
