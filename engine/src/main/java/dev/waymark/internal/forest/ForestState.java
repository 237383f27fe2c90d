package dev.waymark.internal.forest;

import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Layout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;

/** A forest as the edits that would make it anew: what a checkpoint writes. */
public final class ForestState {
  private ForestState() {}

  /** Namespaces, budget and open sessions: what the boundaries refer to. */
  public static List<Edit> heads(Forest forest) {
    List<Edit> edits = new ArrayList<>();
    for (NamespaceState state : forest.namespaces()) {
      edits.add(Edit.NamespaceAdded.of(state.descriptor()));
    }
    forest.budgetSpent().ifPresent(edits::add);
    forest.sessions().forEach(session -> edits.add(session.opened()));
    return edits;
  }

  /** Every boundary after its parent, its point after it. */
  public static Iterator<Edit> boundaries(Forest forest) {
    return new Boundaries(forest);
  }

  /** Kept chains, which refer to boundaries. */
  public static List<Edit> tails(Forest forest) {
    List<Edit> edits = new ArrayList<>();
    for (Forest.Kept kept : forest.kept()) {
      edits.add(
          new Edit.ChainKept(
              kept.namespaceId(), forest.key(kept.node()), kept.name(), kept.keptMillis()));
    }
    return edits;
  }

  private static final class Boundaries implements Iterator<Edit> {
    private final Forest forest;
    private final List<Integer> roots = new ArrayList<>();
    private final List<Edit> ready = new ArrayList<>();
    private int root;
    private int taken;
    private int node = Forest.NONE;

    Boundaries(Forest forest) {
      this.forest = forest;
      forest.forEachRoot(roots::add);
      advance();
    }

    @Override
    public boolean hasNext() {
      return taken < ready.size();
    }

    @Override
    public Edit next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      Edit edit = ready.get(taken++);
      if (taken == ready.size()) {
        advance();
      }
      return edit;
    }

    private void advance() {
      ready.clear();
      taken = 0;
      node = following();
      if (node != Forest.NONE) {
        addEdits();
      }
    }

    private int following() {
      int child = node == Forest.NONE ? Forest.NONE : forest.firstChild(node);
      if (child != Forest.NONE) {
        return child;
      }
      int at = node;
      while (at != Forest.NONE && !forest.isRoot(at)) {
        if (forest.nextSibling(at) != Forest.NONE) {
          return forest.nextSibling(at);
        }
        at = forest.parent(at);
      }
      while (root < roots.size()) {
        int first = forest.firstChild(roots.get(root++));
        if (first != Forest.NONE) {
          return first;
        }
      }
      return Forest.NONE;
    }

    private void addEdits() {
      int id = forest.namespaceOf(node).id();
      BoundaryKey key = forest.key(node);
      Layout layout = forest.namespaceOf(node).layout();
      int above = forest.parent(node);
      Set<OpenSession> users = forest.users(node);
      long owner = users.isEmpty() ? 0 : users.iterator().next().id();
      ready.add(
          new Edit.RowsAdded(
              id,
              key,
              forest.key(above),
              owner,
              forest.tokens(above),
              forest.tokens(node),
              forest.recency(node),
              forest.addedMillis(node),
              layout.rowBytes(forest.tokens(above), forest.tokens(node)),
              forest.rowRecords(node)));
      addUsers(users, owner, id, key);
      List<RecordLocation> deltas = forest.deltaRecords(node);
      if (forest.isPoint(node) || !deltas.isEmpty()) {
        int covered = forest.coveredFrom(node);
        List<OpenSession> adders =
            forest.sessions().stream().filter(session -> session.points.contains(node)).toList();
        long adder = adders.isEmpty() ? 0 : adders.get(0).id();
        ready.add(
            new Edit.PointAdded(
                id,
                key,
                adder,
                covered,
                forest.recency(node),
                forest.addedMillis(node),
                deltas.isEmpty() ? 0 : layout.windowBytes(covered, forest.tokens(node)),
                forest.isPoint(node) ? layout.fixedBytes() : 0,
                deltas,
                forest.stateRecords(node)));
        addUsers(adders, adder, id, key);
        if (!forest.isPoint(node)) {
          ready.add(
              new Edit.PointDropped(
                  id, key, dev.waymark.internal.manifest.DropReason.THINNED, false));
        }
      }
    }

    private void addUsers(
        Collection<OpenSession> all, long owner, int namespaceId, BoundaryKey key) {
      for (OpenSession user : all) {
        if (user.id() != owner) {
          ready.add(new Edit.BoundaryUsed(user.id(), namespaceId, key));
        }
      }
    }
  }
}
