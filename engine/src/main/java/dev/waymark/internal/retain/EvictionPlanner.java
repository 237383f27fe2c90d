package dev.waymark.internal.retain;

import dev.waymark.internal.forest.Forest;
import dev.waymark.layout.EvictionPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Whom to evict, one victim after the other. Pure: looks at the forest alone, and changes nothing.
 *
 * <p>Candidates stand in a heap that one scan over the forest fills, and that is checked only where
 * something is taken from it: a candidate that is no leaf any more, or that was used since, is
 * passed over or put back. So an eviction costs a few of them, and the scan is spread over as many
 * as the heap held.
 *
 * <p>Invariants: what is held or kept, and what is above it, is never named; a victim is named
 * after everything that stands on it.
 */
public final class EvictionPlanner {
  /** Candidates that one scan keeps, at least. */
  private static final int LEAST_CANDIDATES = 1_024;

  private static final int SCANNED_PER_CANDIDATE = 16;

  private final Forest forest;
  private final EvictionPolicy policy;
  private final IntPredicate usedNamespace;
  private final int onlyNamespace;
  private final Set<Integer> gone = new HashSet<>();
  private final Tails tails;
  private final PriorityQueue<Candidate> heap = new PriorityQueue<>();
  private final Map<Integer, Long> namespaceUse = new HashMap<>();

  /** What boundaries will have from victims that were named and are not dropped yet. */
  private final Map<Integer, Long> inherited = new HashMap<>();

  private long scanSequence;
  private Candidate limit;
  private boolean scanIsFresh;

  /** All namespaces may lose. */
  public static final int ANY_NAMESPACE = 0;

  private record Candidate(int rank, long group, double score, int node, long recency)
      implements Comparable<Candidate> {
    @Override
    public int compareTo(Candidate other) {
      int order = Integer.compare(rank, other.rank);
      if (order == 0) {
        order = Long.compare(group, other.group);
      }
      if (order == 0) {
        order = Double.compare(score, other.score);
      }
      return order != 0 ? order : Integer.compare(node, other.node);
    }
  }

  /**
   * A planner.
   *
   * @param usedNamespace of which namespaces, by number, something was asked in this process
   * @param onlyNamespace the one namespace that is to lose, or {@link #ANY_NAMESPACE}
   */
  public EvictionPlanner(
      Forest forest, EvictionPolicy policy, IntPredicate usedNamespace, int onlyNamespace) {
    this.forest = forest;
    this.policy = policy;
    this.usedNamespace = usedNamespace;
    this.onlyNamespace = onlyNamespace;
    this.tails = new Tails(forest, gone::contains);
  }

  /**
   * Names the next victim, and takes it as gone from then on.
   *
   * @param nowSequence the sequence that stands for now
   * @return null where nothing may go any more
   */
  public Victim next(long nowSequence) {
    while (true) {
      Candidate candidate = heap.poll();
      if (candidate == null) {
        if (scanIsFresh) {
          // Nothing was named since the last scan: there is nothing, until something is let go.
          scanIsFresh = false;
          return null;
        }
        scan(nowSequence);
        scanIsFresh = true;
        continue;
      }
      int node = candidate.node();
      if (!isCandidate(node)) {
        continue;
      }
      Candidate now = candidate(node, nowSequence);
      if (now.recency() >= scanSequence || (limit != null && now.compareTo(limit) > 0)) {
        // Used since the scan, or not among its lowest: the next scan ranks it among the others.
        continue;
      }
      Candidate following = heap.peek();
      if (following != null && now.compareTo(following) > 0 && now.compareTo(candidate) > 0) {
        heap.add(now);
        continue;
      }
      scanIsFresh = false;
      return take(now, nowSequence);
    }
  }

  /** The victims named so far were dropped, or are not going to be: the forest is as it looks. */
  public void settle() {
    gone.clear();
    inherited.clear();
  }

  private Victim take(Candidate candidate, long nowSequence) {
    List<Integer> nodes = tails.tail(candidate.node());
    Victim victim =
        new Victim(
            nodes,
            tails.bytes(nodes),
            switch (candidate.rank()) {
              case 0 -> Victim.Reason.UNUSED_NAMESPACE;
              case 1 -> Victim.Reason.NO_POINT;
              default -> Victim.Reason.SCORE;
            });
    gone.addAll(nodes);
    int above = forest.parent(nodes.get(nodes.size() - 1));
    if (isCandidate(above)) {
      // What the leaf was used for, its parent was too; the forest will say so once it is dropped.
      inherited.merge(above, candidate.recency(), Math::max);
      heap.add(candidate(above, nowSequence));
    }
    return victim;
  }

  private boolean isCandidate(int node) {
    return forest.isThere(node)
        && (onlyNamespace == ANY_NAMESPACE || forest.namespaceOf(node).id() == onlyNamespace)
        && tails.isFreeLeaf(node);
  }

  private Candidate candidate(int node, long nowSequence) {
    int id = forest.namespaceOf(node).id();
    long recency = Math.max(forest.recency(node), inherited.getOrDefault(node, 0L));
    if (!usedNamespace.test(id)) {
      return new Candidate(0, namespaceUse.getOrDefault(id, 0L), recency, node, recency);
    }
    int rank = forest.isRestorable(node) ? 2 : 1;
    return new Candidate(rank, 0, score(node, recency, nowSequence), node, recency);
  }

  private double score(int node, long recency, long nowSequence) {
    if (policy == EvictionPolicy.LRU || !usedNamespace.test(forest.namespaceOf(node).id())) {
      return recency;
    }
    double bytes = Math.max(1, tails.bytes(tails.tail(node)));
    return tails.lostTokens(node) / bytes / Math.max(1, nowSequence - recency);
  }

  private void scan(long nowSequence) {
    heap.clear();
    namespaceUse.clear();
    scanSequence = nowSequence;
    List<Candidate> found = new ArrayList<>();
    forest.forEachBoundary(
        node -> namespaceUse.merge(forest.namespaceOf(node).id(), forest.recency(node), Math::max));
    forest.forEachBoundary(
        node -> {
          if (isCandidate(node)) {
            found.add(candidate(node, nowSequence));
          }
        });
    long most = Math.max(LEAST_CANDIDATES, forest.boundaryCount() / SCANNED_PER_CANDIDATE);
    if (found.size() > most) {
      found.sort(null);
      heap.addAll(found.subList(0, (int) most));
      limit = found.get((int) most);
    } else {
      limit = null;
      heap.addAll(found);
    }
  }
}
