package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.retain.Victim;
import dev.waymark.layout.BoundaryKey;
import java.time.Duration;
import java.util.ArrayList;
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
 * next open gives back the rest. What is many goes in steps, leaves first: killed between two of
 * them, some of it is gone, and the call is made again for the rest.
 */
public final class Maintenance {
  private final StoreEngine engine;
  private final Waiting waiting;

  Maintenance(StoreEngine engine) {
    this(engine, Waiting.SYSTEM);
  }

  /** With a time of its own. */
  Maintenance(StoreEngine engine, Waiting waiting) {
    this.engine = engine;
    this.waiting = waiting;
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
    return deleteNamespace(namespace.state().id(), dryRun);
  }

  /**
   * Deletes what an operator names, kept chains included unless it goes by age; and, where that is
   * a whole namespace, the namespace itself once nothing of it is in use.
   *
   * @param deletion what is to be gone
   * @param dryRun whether to say only what would go, and change nothing
   * @return what went, or would go
   * @throws InvalidArgumentException if the namespace or tenant is not there, or not the only one
   */
  public EvictionReport delete(Deletion deletion, boolean dryRun) {
    NamespaceState whole = engine.publisher.read(() -> deletion.wholeNamespace(engine.forest));
    if (whole != null) {
      return deleteNamespace(whole.id(), dryRun);
    }
    IntPredicate wanted =
        engine.publisher.read(() -> deletion.wanted(engine.forest, engine.clockMillis.getAsLong()));
    return wipe(
        new Wiping(engine, wanted, deletion.keptToo(), deletion.reason()),
        dryRun,
        () -> deletion.releases(engine.forest, wanted).forEach(engine.publisher::publish),
        () -> {});
  }

  private EvictionReport deleteNamespace(int id, boolean dryRun) {
    return wipe(
        new Wiping(
            engine, node -> engine.forest.namespaceOf(node).id() == id, true, Victim.Reason.ASKED),
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
        dryRun);
  }

  /**
   * Deletes every chain that was added longer ago than that, however often it was used since.
   *
   * @param age how long ago, 0 to 365 000 days
   * @param dryRun whether to say only what would go, and change nothing
   * @return what went, or would go
   * @throws InvalidArgumentException if that is less than nothing, or longer than there are clocks
   */
  public EvictionReport deleteOlderThan(Duration age, boolean dryRun) {
    Deletion.requireAge(age);
    long before = engine.clockMillis.getAsLong() - age.toMillis();
    return wipe(node -> engine.forest.addedMillis(node) < before, Victim.Reason.AGE, dryRun);
  }

  /**
   * Deletes every chain that was last used before a sequence.
   *
   * @param sequence one that {@link #sequence()} gave
   * @param dryRun whether to say only what would go, and change nothing
   * @return what went, or would go
   */
  public EvictionReport deleteUsedBefore(long sequence, boolean dryRun) {
    return wipe(node -> engine.forest.recency(node) < sequence, Victim.Reason.AGE, dryRun);
  }

  /**
   * Releases the kept chains of that name in all namespaces.
   *
   * @param name the name that the chain is held under
   * @return how many there were
   */
  public int release(String name) {
    return release("", name);
  }

  /**
   * Releases the kept chain of that name in one namespace.
   *
   * @param namespace first 8 or more hex digits of its fingerprint, or its number; empty for all
   *     namespaces
   * @param name the name that the chain is held under
   * @return how many there were
   * @throws InvalidArgumentException if the namespace is not there, or not the only one
   */
  public int release(String namespace, String name) {
    return engine.using(() -> releaseAll(inNamespace(namespace), name));
  }

  private int releaseAll(IntPredicate inNamespace, String name) {
    int count =
        engine.publisher.write(
            () -> {
              int released = 0;
              for (Forest.Kept kept : engine.forest.kept()) {
                if (kept.name().equals(name) && inNamespace.test(kept.namespaceId())) {
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
   * Which ids are of the one namespace whose fingerprint begins like that; all where it is empty.
   */
  private IntPredicate inNamespace(String prefix) {
    if (prefix.isEmpty()) {
      return id -> true;
    }
    int only = engine.publisher.read(() -> Choice.namespace(engine.forest, prefix).id());
    return id -> id == only;
  }

  /**
   * Keeps the chain of a boundary against eviction under a name, durably, for whoever has the key
   * that a report shows, and not the tokens.
   *
   * @param namespace first 8 or more hex digits of its namespace's fingerprint, or its number;
   *     empty for any
   * @param keyPrefix first hex digits of the key, 8 to 64
   * @param name the name that the chain is held under
   * @return what is kept
   * @throws InvalidArgumentException if not exactly one boundary's key starts like that, or it is
   *     no restore point, or the name is no name, or the namespace is not clear
   * @throws dev.waymark.error.QuotaPinnedException if what is kept would fill the quota
   */
  public KeptChain keep(String namespace, String keyPrefix, String name) {
    engine.requireOpen();
    IntPredicate inNamespace = inNamespace(namespace);
    String prefix = KeyPrefix.check(keyPrefix);
    return keepOne(
        node ->
            inNamespace.test(engine.forest.namespaceOf(node).id())
                && KeyPrefix.matches(engine.forest.key(node), prefix),
        prefix,
        name);
  }

  /**
   * Keeps the chain of the restore point with the most tokens, as above.
   *
   * @param namespace first 8 or more hex digits of its namespace's fingerprint, or its number;
   *     empty for any
   * @param name the name that the chain is held under
   * @return what is kept
   * @throws InvalidArgumentException if there is no restore point, or several are equally deep, or
   *     the name is no name, or the namespace is not clear
   * @throws dev.waymark.error.QuotaPinnedException if what is kept would fill the quota
   */
  public KeptChain keepDeepest(String namespace, String name) {
    engine.requireOpen();
    IntPredicate inNamespace = inNamespace(namespace);
    IntPredicate isPoint =
        node ->
            inNamespace.test(engine.forest.namespaceOf(node).id())
                && engine.forest.isRestorable(node);
    int deepest =
        engine.publisher.read(
            () -> {
              int[] most = {0};
              engine.forest.forEachBoundary(
                  node -> {
                    if (isPoint.test(node)) {
                      most[0] = Math.max(most[0], engine.forest.tokens(node));
                    }
                  });
              return most[0];
            });
    return keepOne(
        node -> isPoint.test(node) && engine.forest.tokens(node) == deepest,
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
    return new ChainKeeper(engine).keep(place.namespaceId(), place.key(), place.tokens(), name);
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
   * Copies what lives out of segments that are mostly dead, and gives them back: no faster than
   * {@link StoreOptions#compactionBytesPerSecond}. Stops where a thread that waits is interrupted,
   * which it then still is. However it ends, nothing is lost: what was not copied is where it was.
   *
   * @param targetLiveRatio segments of which no larger share lives are emptied, 0 to 1
   * @param maxBytesWritten most bytes to copy, 0 or more; a segment that would exceed it is left
   *     out
   * @param progress asked after each segment whether to go on, and before each record whether to
   *     stop
   * @param dryRun whether to say only which segments would be emptied, and change nothing
   * @return what was copied and came back; of a dry run, only the candidates
   * @throws InvalidArgumentException if the ratio or the bytes are out of range
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
    List<SegmentInfo> choices = engine.using(() -> engine.space.candidates(targetLiveRatio));
    LivePages pages = engine.publisher.read(() -> new LivePages(engine.forest));
    List<CompactionReport.Candidate> candidates = pages.candidates(choices);
    if (dryRun) {
      return new CompactionReport(candidates, 0, 0, 0);
    }
    long before = occupiedBytes();
    PacedCopy copy = new PacedCopy(engine, waiting, progress);
    int done = 0;
    for (CompactionReport.Candidate candidate : candidates) {
      if (copy.copiedBytes() + candidate.copyBytes() > maxBytesWritten) {
        continue;
      }
      boolean emptied = copy.empty(candidate.segmentId());
      done += emptied ? 1 : 0;
      if (copy.isStopped()
          || (emptied && !progress.emptied(done, candidates.size(), copy.copiedBytes()))) {
        break;
      }
    }
    engine.using(
        () -> {
          engine.space.giveBack();
          return null;
        });
    return new CompactionReport(candidates, done, copy.copiedBytes(), before - occupiedBytes());
  }

  private long occupiedBytes() {
    StoreStats stats = engine.stats();
    return stats.allocatedBytes() - stats.reservedBytes();
  }

  private EvictionReport wipe(IntPredicate wanted, Victim.Reason reason, boolean dryRun) {
    return wipe(new Wiping(engine, wanted, false, reason), dryRun, () -> {}, () -> {});
  }

  private EvictionReport wipe(Wiping wiping, boolean dryRun, Runnable first, Runnable last) {
    return engine.using(
        () -> {
          if (dryRun) {
            return wiping.preview();
          }
          engine.publisher.write(
              () -> {
                first.run();
                return null;
              });
          return wiping.run(last);
        });
  }
}
