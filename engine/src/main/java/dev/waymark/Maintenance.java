package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.reclaim.SegmentChoice;
import dev.waymark.internal.reclaim.SegmentEmptier;
import dev.waymark.internal.retain.PinnedBytes;
import dev.waymark.internal.retain.Victim;
import dev.waymark.internal.retain.Wipe;
import dev.waymark.layout.BoundaryKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;

/**
 * What an operator does to a store. Everything has a dry run, which says what would go and why, and
 * changes nothing. What is being read or written at that moment stays, and so does what it stands
 * on.
 *
 * <p>The edits that drop something are durable before bytes go: killed anywhere after that, the
 * next open gives back the rest. What is many goes in steps, leaves first: killed between two of
 * them, some of it is gone, and the call is made again for the rest.
 */
public final class Maintenance {
  /** Least digits by which a boundary is named: as many as reports show. */
  private static final int LEAST_KEY_DIGITS = 8;

  private static final Pattern HEX = Pattern.compile("[0-9a-f]{1,64}");

  private final StoreEngine engine;

  Maintenance(StoreEngine engine) {
    this.engine = engine;
  }

  /**
   * Deletes everything in a namespace, tenants and kept chains included, and the namespace itself
   * once nothing of it is in use.
   *
   * @param namespace the namespace, itself and not one of its tenants
   * @param dryRun whether to say only what would go, and change nothing
   * @return what went, or would go
   */
  public EvictionReport deleteNamespace(Namespace namespace, boolean dryRun) {
    int id = namespace.state().id();
    return wipe(
        node -> engine.forest.namespaceOf(node).id() == id,
        Victim.Reason.ASKED,
        dryRun,
        () -> {
          for (Forest.Kept kept : engine.forest.kept()) {
            if (kept.namespaceId() == id) {
              engine.publisher.publish(new Edit.ChainReleased(id, kept.name()));
            }
          }
        },
        () -> {
          // A prefill that is about to start holds what it starts from, a root too.
          boolean inUse =
              engine.forest.sessions().stream().anyMatch(s -> s.opened().namespaceId() == id)
                  || engine.forest.isHeldIn(id);
          boolean there = engine.forest.namespace(id) != null;
          if (there && !inUse && engine.forest.namespace(id).boundaries() == 0) {
            engine.publisher.publish(new Edit.NamespaceDropped(id));
            engine.space.forget(id);
          }
        });
  }

  /**
   * Deletes the end of a chain: its deepest boundary, and upwards what nothing else stands on.
   *
   * @param match a match that reaches the end of the chain
   * @param dryRun whether to say only what would go, and change nothing
   * @return what went, or would go
   */
  public EvictionReport deleteChain(PrefixMatch match, boolean dryRun) {
    if (match.storedTokens() == 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("nothing of the chain is stored")
              .expected("a match with stored tokens")
              .found(0));
    }
    // By key, not by node: the number of a node may come to stand for another boundary.
    Set<BoundaryKey> chain = new HashSet<>();
    int block = match.namespace().layout().blockTokens();
    for (int at = block; at <= match.storedTokens(); at += block) {
      chain.add(match.keyAt(at));
    }
    int namespaceId = match.namespace().state().id();
    return wipe(
        node ->
            engine.forest.namespaceOf(node).id() == namespaceId
                && chain.contains(engine.forest.key(node)),
        Victim.Reason.ASKED,
        dryRun,
        () -> {},
        () -> {});
  }

  /**
   * Deletes every chain that was added longer ago than that, however often it was used since.
   *
   * @param age how long ago at least
   * @param dryRun whether to say only what would go, and change nothing
   * @return what went, or would go
   */
  public EvictionReport deleteOlderThan(Duration age, boolean dryRun) {
    long before = engine.clockMillis.getAsLong() - age.toMillis();
    return wipe(
        node -> engine.forest.addedMillis(node) < before,
        Victim.Reason.AGE,
        dryRun,
        () -> {},
        () -> {});
  }

  /**
   * Deletes every chain that was last used before a sequence.
   *
   * @param sequence one that {@link #sequence()} gave
   * @param dryRun whether to say only what would go, and change nothing
   * @return what went, or would go
   */
  public EvictionReport deleteUsedBefore(long sequence, boolean dryRun) {
    return wipe(
        node -> engine.forest.recency(node) < sequence,
        Victim.Reason.AGE,
        dryRun,
        () -> {},
        () -> {});
  }

  /**
   * Releases the kept chains of that name in all namespaces; returns how many there were.
   *
   * @param name the name that the chain is held under
   * @return how many there were
   */
  public int release(String name) {
    return engine.using(() -> releaseAll(name));
  }

  private int releaseAll(String name) {
    int count =
        engine.publisher.write(
            () -> {
              int released = 0;
              for (Forest.Kept kept : engine.forest.kept()) {
                if (kept.name().equals(name)) {
                  engine.publisher.publish(new Edit.ChainReleased(kept.namespaceId(), name));
                  released++;
                }
              }
              return released;
            });
    engine.publisher.commit();
    return count;
  }

  /**
   * Keeps the chain of a boundary against eviction under a name, durably, for whoever has the key
   * that a report shows, and not the tokens.
   *
   * @param keyPrefix first hex digits of the key, 8 to 64
   * @param name the name that the chain is held under
   * @return what is kept
   * @throws InvalidArgumentException if not exactly one boundary's key starts like that, or it is
   *     no restore point, or the name is no name
   * @throws dev.waymark.error.QuotaPinnedException if what is kept would fill the quota
   */
  public KeptChain keep(String keyPrefix, String name) {
    engine.requireOpen();
    String prefix = keyPrefix.toLowerCase(Locale.ROOT);
    if (prefix.length() < LEAST_KEY_DIGITS || !HEX.matcher(prefix).matches()) {
      throw new InvalidArgumentException(
          ErrorDetail.of("that is no prefix of a boundary's key")
              .expected(LEAST_KEY_DIGITS + " to 64 hex digits")
              .found(keyPrefix.length() + " characters"));
    }
    return keepOne(node -> engine.forest.key(node).toHex().startsWith(prefix), prefix, name);
  }

  /**
   * Keeps the chain of the restore point with the most tokens, as above.
   *
   * @param name the name that the chain is held under
   * @return what is kept
   * @throws InvalidArgumentException if there is no restore point, or several are equally deep
   */
  public KeptChain keepDeepest(String name) {
    engine.requireOpen();
    int deepest =
        engine.publisher.read(
            () -> {
              int[] most = {0};
              engine.forest.forEachBoundary(
                  node -> {
                    if (engine.forest.isRestorable(node)) {
                      most[0] = Math.max(most[0], engine.forest.tokens(node));
                    }
                  });
              return most[0];
            });
    return keepOne(
        node -> engine.forest.isRestorable(node) && engine.forest.tokens(node) == deepest,
        deepest + " tokens",
        name);
  }

  private record Place(int namespaceId, BoundaryKey key, int tokens, boolean restorable) {}

  private KeptChain keepOne(IntPredicate wanted, String what, String name) {
    List<Place> places =
        engine.publisher.read(
            () -> {
              List<Place> found = new ArrayList<>();
              engine.forest.forEachBoundary(
                  node -> {
                    if (wanted.test(node)) {
                      found.add(
                          new Place(
                              engine.forest.namespaceOf(node).id(),
                              engine.forest.key(node),
                              engine.forest.tokens(node),
                              engine.forest.isRestorable(node)));
                    }
                  });
              return found;
            });
    if (places.size() != 1 || !places.get(0).restorable()) {
      throw new InvalidArgumentException(
          ErrorDetail.of("which chain to keep is not clear")
              .expected("one restore point (" + what + ")")
              .found(
                  places.size() == 1
                      ? "a boundary that has only rows"
                      : places.isEmpty() ? "none" : places.size() + " boundaries")
              .remedy("choose a restore point that segtool inspect --boundaries lists"));
    }
    Place place = places.get(0);
    new ChainKeeper(engine).keep(place.namespaceId(), place.key(), place.tokens(), name);
    return engine.publisher.read(
        () -> {
          int node = engine.forest.find(place.namespaceId(), place.key());
          return new KeptChain(
              engine.forest.namespace(place.namespaceId()).fingerprint().abbreviated(),
              name,
              place.tokens(),
              PinnedBytes.of(engine.forest, new int[] {node}));
        });
  }

  /** {@return the sequence that stands for now: what is used from now on has it or a larger one} */
  public long sequence() {
    return engine.segments.peekSequence();
  }

  /**
   * {@return what would go to make room for so many bytes}
   *
   * @param bytes how many bytes are wanted
   */
  public EvictionReport evictionFor(long bytes) {
    return engine.using(() -> engine.space.preview(bytes));
  }

  /**
   * Copies what lives out of segments that are mostly dead, and gives them back.
   *
   * @param targetLiveRatio segments of which no larger share lives are emptied, 0 to 1
   * @param maxBytesWritten stops before more than that is copied
   * @param dryRun whether to say only what would go, and change nothing
   * @param progress asked after each segment whether to go on
   * @return what was emptied, and what that took
   */
  public CompactionReport compact(
      double targetLiveRatio,
      long maxBytesWritten,
      boolean dryRun,
      CompactionReport.Progress progress) {
    engine.requireOpen();
    if (!(targetLiveRatio >= 0 && targetLiveRatio <= 1) || maxBytesWritten < 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a compaction's limits are out of range")
              .expected("a ratio from 0 to 1, and bytes of 0 or more")
              .found(targetLiveRatio + " and " + maxBytesWritten));
    }
    // Segment by segment: between two of them, what is told of the progress may close the store.
    List<SegmentChoice> choices = engine.using(() -> engine.space.candidates(targetLiveRatio));
    Map<Long, Long> pages = livePages();
    List<CompactionReport.Candidate> candidates =
        choices.stream().map(choice -> candidate(choice, pages)).toList();
    if (dryRun) {
      return new CompactionReport(candidates, 0, 0, 0);
    }
    long before = engine.stats().allocatedBytes();
    long copied = 0;
    int done = 0;
    for (CompactionReport.Candidate candidate : candidates) {
      if (copied + candidate.liveBytes() > maxBytesWritten) {
        continue;
      }
      try {
        SegmentEmptier.Outcome outcome =
            engine.using(() -> engine.space.copyOut(candidate.segmentId()));
        copied += outcome.copiedBytes();
      } catch (QuotaExceededException e) {
        // The quota has no room for a copy beside its original.
        break;
      }
      done++;
      if (!progress.emptied(done, candidates.size(), copied)) {
        break;
      }
    }
    engine.using(
        () -> {
          engine.space.giveBack();
          return null;
        });
    return new CompactionReport(candidates, done, copied, before - engine.stats().allocatedBytes());
  }

  /** A copy takes whole pages, so these are what a limit on what is written has to count. */
  private Map<Long, Long> livePages() {
    Forest forest = engine.forest;
    return engine.publisher.read(
        () -> {
          Map<Long, Long> pages = new HashMap<>();
          Consumer<RecordLocation> add =
              record ->
                  pages.merge(
                      record.segmentId(), Alignment.toPage(record.lengthBytes()), Long::sum);
          forest.forEachBoundary(
              node -> {
                forest.rowRecords(node).forEach(add);
                forest.deltaRecords(node).forEach(add);
                forest.stateRecords(node).forEach(add);
              });
          return pages;
        });
  }

  private static CompactionReport.Candidate candidate(SegmentChoice choice, Map<Long, Long> pages) {
    long live = pages.getOrDefault(choice.segmentId(), 0L);
    return new CompactionReport.Candidate(
        choice.segmentId(), live, choice.liveBytes() + choice.gainBytes() - live);
  }

  private EvictionReport wipe(
      IntPredicate wanted, Victim.Reason reason, boolean dryRun, Runnable before, Runnable after) {
    return engine.using(() -> wipeInUse(wanted, reason, dryRun, before, after));
  }

  private EvictionReport wipeInUse(
      IntPredicate wanted, Victim.Reason reason, boolean dryRun, Runnable before, Runnable after) {
    Tally tally = new Tally(engine);
    if (dryRun) {
      return engine.publisher.read(
          () -> {
            Wipe.of(engine.forest, wanted, reason).forEach(tally::add);
            return tally.report();
          });
    }
    engine.publisher.write(
        () -> {
          before.run();
          return null;
        });
    boolean more = true;
    while (more) {
      more = engine.publisher.write(() -> wipeStep(wanted, reason, tally, after));
      // The manifest counts in the quota, and knows of no more than one step before it is counted.
      engine.space.giveBack();
    }
    return tally.report();
  }

  /** Drops as many as go in one step; returns whether there are more. */
  private boolean wipeStep(IntPredicate wanted, Victim.Reason reason, Tally tally, Runnable after) {
    List<Victim> victims = Wipe.of(engine.forest, wanted, reason);
    int step = Math.min(victims.size(), SpaceKeeper.STEP_BOUNDARIES);
    for (Victim victim : victims.subList(0, step)) {
      tally.add(victim);
      engine.drop(victim, DropReason.WIPED);
    }
    boolean more = step < victims.size();
    if (!more) {
      after.run();
    }
    return more;
  }
}
