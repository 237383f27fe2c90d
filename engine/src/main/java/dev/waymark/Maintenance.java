package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.reclaim.SegmentChoice;
import dev.waymark.internal.reclaim.SegmentEmptier;
import dev.waymark.internal.retain.Victim;
import dev.waymark.internal.retain.Wipe;
import dev.waymark.layout.BoundaryKey;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * What an operator does to a store. Everything has a dry run, which says what would go and why, and
 * changes nothing. What is being read or written at that moment stays, and so does what it stands
 * on.
 *
 * <p>The edits that drop something are durable before bytes go: killed anywhere after that, the
 * next open gives back the rest.
 */
public final class Maintenance {
  private final StoreEngine engine;

  Maintenance(StoreEngine engine) {
    this.engine = engine;
  }

  /**
   * Deletes everything in a namespace, tenants and kept chains included, and the namespace itself
   * once nothing of it is in use.
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
          boolean inUse =
              engine.forest.sessions().stream().anyMatch(s -> s.opened().namespaceId() == id);
          boolean there = engine.forest.namespace(id) != null;
          if (there && !inUse && engine.forest.namespace(id).boundaries() == 0) {
            engine.publisher.publish(new Edit.NamespaceDropped(id));
            engine.space.forget(id);
          }
        });
  }

  /** Deletes the end of a chain: its deepest boundary, and upwards what nothing else stands on. */
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

  /** Deletes every chain that was added longer ago than that, however often it was used since. */
  public EvictionReport deleteOlderThan(Duration age, boolean dryRun) {
    long before = engine.clockMillis.getAsLong() - age.toMillis();
    return wipe(
        node -> engine.forest.addedMillis(node) < before,
        Victim.Reason.AGE,
        dryRun,
        () -> {},
        () -> {});
  }

  /** Deletes every chain that was last used before a sequence. */
  public EvictionReport deleteUsedBefore(long sequence, boolean dryRun) {
    return wipe(
        node -> engine.forest.recency(node) < sequence,
        Victim.Reason.AGE,
        dryRun,
        () -> {},
        () -> {});
  }

  /** Releases the kept chains of that name in all namespaces; returns how many there were. */
  public int release(String name) {
    engine.requireOpen();
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

  /** The sequence that stands for now: what is used from now on has it or a larger one. */
  public long sequence() {
    return engine.segments.peekSequence();
  }

  /** What would go to make room for so many bytes. */
  public EvictionReport evictionFor(long bytes) {
    engine.requireOpen();
    return engine.space.preview(bytes);
  }

  /**
   * Copies what lives out of segments that are mostly dead, and gives them back.
   *
   * @param targetLiveRatio segments of which no larger share lives are emptied, 0 to 1
   * @param maxBytesWritten stops before more than that is copied
   * @param progress asked after each segment whether to go on
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
    List<SegmentChoice> choices = engine.space.candidates(targetLiveRatio);
    List<CompactionReport.Candidate> candidates =
        choices.stream()
            .map(c -> new CompactionReport.Candidate(c.segmentId(), c.liveBytes(), c.gainBytes()))
            .toList();
    if (dryRun) {
      return new CompactionReport(candidates, 0, 0, 0);
    }
    long before = engine.stats().allocatedBytes();
    long copied = 0;
    int done = 0;
    for (SegmentChoice choice : choices) {
      if (copied + choice.liveBytes() > maxBytesWritten) {
        continue;
      }
      try {
        SegmentEmptier.Outcome outcome = engine.space.copyOut(choice.segmentId());
        copied += outcome.copiedBytes();
      } catch (QuotaExceededException e) {
        // The quota has no room for a copy beside its original.
        break;
      }
      done++;
      if (!progress.emptied(done, choices.size(), copied)) {
        break;
      }
    }
    engine.space.giveBack();
    return new CompactionReport(candidates, done, copied, before - engine.stats().allocatedBytes());
  }

  private EvictionReport wipe(
      IntPredicate wanted, Victim.Reason reason, boolean dryRun, Runnable before, Runnable after) {
    engine.requireOpen();
    EvictionReport report =
        dryRun
            ? engine.publisher.read(() -> wipeLocked(wanted, reason, true))
            : engine.publisher.write(
                () -> {
                  before.run();
                  EvictionReport done = wipeLocked(wanted, reason, false);
                  after.run();
                  return done;
                });
    if (!dryRun) {
      engine.space.giveBack();
    }
    return report;
  }

  private EvictionReport wipeLocked(IntPredicate wanted, Victim.Reason reason, boolean dryRun) {
    Tally tally = new Tally(engine);
    for (Victim victim : Wipe.of(engine.forest, wanted, reason)) {
      tally.add(victim);
      if (!dryRun) {
        engine.drop(victim, DropReason.WIPED);
      }
    }
    return tally.report();
  }
}
