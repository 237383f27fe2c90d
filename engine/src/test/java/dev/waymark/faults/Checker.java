package dev.waymark.faults;

import dev.waymark.AppendReceipt;
import dev.waymark.Durability;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreBridge;
import dev.waymark.StoreStats;
import dev.waymark.error.RestoreMissException;
import dev.waymark.error.WaymarkException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Prompt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** Compares a store that was just opened with what the oracle says has to be in it. */
final class Checker {
  /** The account sets pages aside for small files, which may be shorter or not there. */
  private static final long ASIDE_BYTES = 4 * 4_096;

  /**
   * Of a file with more extents than its inode holds, ext4 and xfs count the blocks that list them
   * as the file's own: some for a start, and 16 bytes for an extent of two pages.
   */
  private static final long LISTING_BYTES = 2 * 4_096;

  private static final long BYTES_LISTED_PER_BYTE = 2 * 4_096 / 16;

  /** Restores of one prompt besides the deepest: all of them in all cycles would take too long. */
  private static final int MORE_RESTORES = 2;

  private final List<String> lost = new ArrayList<>();
  private final List<String> wrong = new ArrayList<>();
  private final List<String> other = new ArrayList<>();
  private final Set<String> history = new LinkedHashSet<>();
  private long restores;

  /** Acknowledged, and not there. */
  List<String> lost() {
    return lost;
  }

  /** There, and not what was appended. */
  List<String> wrong() {
    return wrong;
  }

  /** Ledgers that do not add up, and stores that cannot be used. */
  List<String> other() {
    return other;
  }

  long restores() {
    return restores;
  }

  boolean isGood() {
    return lost.isEmpty() && wrong.isEmpty() && other.isEmpty();
  }

  /** All that was found, a line each. */
  String findings() {
    return "lost " + lost + "\nwrong " + wrong + "\nother " + other + "\nhistory " + history;
  }

  /** Checks a store that was just opened, and tells the oracle what is there. */
  void check(SnapshotStore store, Samples samples, Oracle oracle, Random random) {
    oracle.reopened(look(store, samples, oracle, random));
  }

  /** Checks a store that is in use; returns what is there. */
  Map<String, Oracle.Required> look(
      SnapshotStore store, Samples samples, Oracle oracle, Random random) {
    Map<String, Oracle.Required> found = new HashMap<>();
    for (Sample sample : samples.all()) {
      try {
        int before = lost.size();
        found.put(sample.name(), check(store, sample, oracle.required(sample), random));
        if (lost.size() > before) {
          history.addAll(oracle.history(sample));
        }
      } catch (WaymarkException e) {
        lost.add("checking " + sample.name() + ": " + e);
      }
    }
    ledger(store);
    return found;
  }

  private Oracle.Required check(
      SnapshotStore store, Sample sample, Oracle.Required required, Random random) {
    Namespace namespace = Samples.namespace(store, sample);
    Prompt prompt = Prompt.ofTokens(sample.tokens());
    PrefixMatch match = namespace.match(prompt);
    if (match.storedTokens() < required.rows()) {
      lost.add(
          "rows of %s: %d tokens of %d, %s"
              .formatted(sample.name(), match.storedTokens(), required.rows(), match.why()));
    }
    Set<Integer> points = new TreeSet<>();
    Arrays.stream(match.points()).forEach(points::add);
    for (int at : required.points()) {
      if (!points.contains(at)) {
        lost.add("point of %s at %d tokens; there are %s".formatted(sample.name(), at, points));
      }
    }
    List<Integer> all = new ArrayList<>(points);
    for (int i = 0; i <= MORE_RESTORES && i < all.size(); i++) {
      int at = all.get(i == 0 ? all.size() - 1 : random.nextInt(all.size()));
      restores++;
      try {
        String difference = sample.compare(match, at);
        if (difference != null) {
          wrong.add(difference);
        }
      } catch (WaymarkException e) {
        lost.add("restore of %s at %d tokens: %s".formatted(sample.name(), at, e));
      }
    }
    return new Oracle.Required(
        match.storedTokens(), Samples.keepsPoints(sample) ? points : Set.of());
  }

  private void ledger(SnapshotStore store) {
    StoreStats stats = store.stats();
    long sum = stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes();
    if (sum != stats.allocatedBytes()) {
      other.add("the ledger adds up to " + sum + ": " + stats);
    }
    long disk = StoreBridge.allocatedOnDisk(store);
    long more = disk - stats.allocatedBytes();
    Map<String, Long> files = StoreBridge.filesOnDisk(store);
    if (more < -ASIDE_BYTES || more > files.size() * LISTING_BYTES + disk / BYTES_LISTED_PER_BYTE) {
      other.add("the file system counts %d bytes, %s: %s".formatted(disk, files, stats));
    }
  }

  /** Stores something new, durably, and gets it back. */
  void use(SnapshotStore store, Samples samples, Oracle oracle, Random random) {
    use(store, samples, oracle, random, 0);
  }

  /**
   * The same for a store some of whose records are damaged. A new record may rest on one of those,
   * which nobody has read yet: reading it says so, once for each, and then the next prefill stores
   * it anew.
   */
  void use(SnapshotStore store, Samples samples, Oracle oracle, Random random, int damagedRecords) {
    for (int attempt = 0; attempt < samples.all().size(); attempt++) {
      Sample sample = samples.all().get(random.nextInt(samples.all().size()));
      if (hasMore(sample, Samples.namespace(store, sample))) {
        useAgain(store, sample, oracle, damagedRecords);
        return;
      }
    }
  }

  private void useAgain(SnapshotStore store, Sample sample, Oracle oracle, int damagedRecords) {
    for (int misses = 0; ; misses++) {
      try {
        append(Samples.namespace(store, sample), sample, oracle);
        return;
      } catch (RestoreMissException e) {
        if (misses >= damagedRecords) {
          other.add("the store cannot be used after " + misses + " misses: " + e);
          return;
        }
      } catch (WaymarkException e) {
        other.add("the store cannot be used: " + e);
        return;
      }
    }
  }

  private static boolean hasMore(Sample sample, Namespace namespace) {
    PrefixMatch match = namespace.match(Prompt.ofTokens(sample.tokens()));
    return match.restorableTokens() < sample.blocks() * Sample.BLOCK;
  }

  private void append(Namespace namespace, Sample sample, Oracle oracle) {
    PrefixMatch match = namespace.match(Prompt.ofTokens(sample.tokens()));
    int from = match.restorableTokens();
    int to = from + Sample.BLOCK;
    PrefillPlan plan =
        PrefillPlan.tokens(to + 1)
            .policy(Samples.policy(sample))
            .onAbort(AbortMode.DISCARD)
            .durability(Durability.COMMIT);
    long id = oracle.opening(sample, true, false);
    try (PrefillSession session = namespace.prefill(match, plan)) {
      AppendReceipt receipt = session.append(sample.tokens(from, to), sample.views(to));
      session.promptComplete();
      oracle.completed(id, to, receipt.pointAdded());
      String difference = sample.compare(namespace.match(sample.tokens()), to);
      if (difference != null) {
        wrong.add("just appended: " + difference);
      }
      oracle.ended(id);
    }
  }
}
