package dev.waymark.explore;

import dev.waymark.explore.Space.Node;
import dev.waymark.layout.BoundaryKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * What a store was told and what it acknowledged, from which follows what has to be there after a
 * crash, what may be, and what may not.
 *
 * <p>Told in this order: what a call may change is noted before the call, what it did after it, and
 * an acknowledgement once it was seen. So at any moment in between the oracle errs on the side of
 * the store. It knows nothing of how the store works; it knows the rules of sessions, of thinning
 * and of acknowledgements.
 */
final class Oracle {
  /** How a session ended, or is about to. */
  enum End {
    OPEN,
    KEPT,
    DISCARDED
  }

  /** One prefill. */
  static final class Session {
    final boolean discardMode;
    final boolean thins;

    /** Boundaries that it appended or found there while appending. */
    final Set<Node> used = new LinkedHashSet<>();

    /** The boundary that it goes on from, with its point; null where that is a root. */
    final Node start;

    /** The deepest boundary that it may have reached. */
    Node reach;

    End end = End.OPEN;
    boolean endAcknowledged;

    /** A call said that what failed forces had lost is gone, and the start was. */
    boolean startLost;

    /** Nothing that it appends from now on is its own to take back. */
    boolean complete;

    Session(boolean discardMode, boolean thins, Node start) {
      this.discardMode = discardMode;
      this.thins = thins;
      this.start = start;
      this.reach = start;
    }

    boolean isSurelyKept() {
      return end == End.OPEN ? !discardMode : end == End.KEPT && (endAcknowledged || !discardMode);
    }

    boolean isSurelyDiscarded() {
      return end == End.OPEN
          ? discardMode
          : end == End.DISCARDED && (endAcknowledged || discardMode);
    }
  }

  /** What is known of one boundary. */
  private static final class Fact {
    boolean possible;

    /** Was there, durably, when this oracle began. */
    boolean settled;

    /** Stays although its sessions took it back: something else stood on it. */
    boolean spared;

    /** Sessions that use it, and whether that was acknowledged. */
    final Map<Session, Boolean> users = new LinkedHashMap<>();

    boolean pointPossible;
    boolean pointSettled;
    boolean pointMayGo;

    /**
     * Sessions that added the point, or found it there, and whether that was acknowledged; null for
     * those that were complete.
     */
    final Map<Session, Boolean> pointUsers = new LinkedHashMap<>();

    /** Counts how often the running store was seen without it; even while it is there. */
    int rowsGone;

    int pointGone;

    boolean isEvicted() {
      return rowsGone % 2 == 1;
    }

    boolean isPointEvicted() {
      return pointGone % 2 == 1;
    }

    /** Nobody who stored it before it went has a claim on what is stored now. */
    void forget() {
      users.clear();
      settled = false;
      pointSettled = false;
      pointUsers.clear();
      // What went may be back, where that it went was not durable.
      spared = true;
    }

    void observe(boolean rows, boolean point) {
      // Only an acknowledgement of what was stored anew, not the sight of it, makes it count again.
      rowsGone |= rows ? 0 : 1;
      pointGone |= point ? 0 : 1;
    }
  }

  private record Pending(Runnable acknowledge, CompletableFuture<Void> receipt) {}

  private final Map<Node, Fact> facts = new LinkedHashMap<>();
  private final Set<Session> sessions = new LinkedHashSet<>();
  private final List<Node> pins = new ArrayList<>();

  /** What each name may keep after a crash: a chain's last boundary, or nothing, as empty. */
  private final Map<String, Set<Optional<Node>>> kept = new TreeMap<>();

  private boolean evicting;

  /** The append that is under way, and how much had been evicted when something last looked. */
  private Session appending;

  private List<Node> underWay = List.of();
  private long evicted;

  private boolean deleting;
  private List<Pending> pending = new ArrayList<>();
  private long version;

  /** Of a store that is empty. */
  Oracle() {}

  /** Of a store that holds this, durably, and nothing else. */
  Oracle(Presence presence) {
    for (Node node : presence.rows()) {
      Fact fact = fact(node);
      fact.possible = true;
      fact.settled = true;
      if (presence.points().contains(node)) {
        fact.pointPossible = true;
        fact.pointSettled = true;
      }
      presence
          .kept()
          .forEach(
              (name, key) -> {
                if (key.equals(node.key)) {
                  kept.put(name, new HashSet<>(Set.of(Optional.of(node))));
                }
              });
    }
  }

  /** Another that knows the same, of a store whose recovery may evict. */
  void evictsAtOpen() {
    evicting = true;
  }

  /** Grows with everything that is told. */
  long version() {
    return version;
  }

  private Fact fact(Node node) {
    return facts.computeIfAbsent(node, n -> new Fact());
  }

  // What is told

  Session opened(boolean discardMode, boolean thins, Node start) {
    Session session = new Session(discardMode, thins, start);
    sessions.add(session);
    if (start != null) {
      fact(start).users.put(session, false);
      fact(start).pointUsers.put(session, false);
    }
    version++;
    return session;
  }

  /** An append is about to store these boundaries, with a point at the last one perhaps. */
  void appending(Session session, List<Node> nodes) {
    for (Node node : nodes) {
      Fact fact = fact(node);
      fact.possible = true;
      if (fact.isEvicted()) {
        fact.forget();
      }
      fact.users.putIfAbsent(session, false);
      session.used.add(node);
    }
    appending = session;
    underWay = nodes;
    Node last = nodes.get(nodes.size() - 1);
    fact(last).pointPossible = true;
    session.reach = last;
    version++;
  }

  /**
   * It returned.
   *
   * @param point whether it made its last boundary a point
   * @param found of its boundaries those that were points before
   */
  void appended(
      Session session,
      List<Node> nodes,
      boolean point,
      Set<Node> found,
      CompletableFuture<Void> receipt) {
    underWay = List.of();
    Fact last = fact(nodes.get(nodes.size() - 1));
    Session user = session.complete ? null : session;
    if (point) {
      // There was none: who had the one before has no claim on this one.
      last.pointUsers.clear();
      last.pointUsers.put(user, false);
    }
    found.forEach(node -> fact(node).pointUsers.putIfAbsent(user, false));
    Map<Node, Integer> gone = new LinkedHashMap<>();
    nodes.forEach(node -> gone.put(node, fact(node).rowsGone));
    int pointGone = last.pointGone;
    later(
        receipt,
        () -> {
          gone.forEach(
              (node, count) -> {
                Fact fact = fact(node);
                fact.users.replace(session, true);
                if (fact.isEvicted() && fact.rowsGone == count) {
                  fact.rowsGone++;
                }
              });
          found.forEach(node -> fact(node).pointUsers.replace(user, true));
          if (point) {
            last.pointUsers.replace(user, true);
          }
          if (point && last.isPointEvicted() && last.pointGone == pointGone) {
            last.pointGone++;
          }
        });
  }

  /** It failed, and nothing of it is under way any more. */
  void appendFailed(Opened opened) {
    observe(opened);
    underWay = List.of();
  }

  /** A point may be written there by the call that follows: not so deep after a failed append. */
  void addingPoint(Node tip) {
    fact(tip).pointPossible = true;
    version++;
  }

  /** A call that ends the session, or completes it, is about to be made. */
  void ending(Session session, End end) {
    session.end = end;
    version++;
    if (end == End.DISCARDED) {
      Set<Node> used = new LinkedHashSet<>(session.used);
      Optional.ofNullable(session.start).ifPresent(used::add);
      for (Node node : used) {
        Fact fact = fact(node);
        fact.spared |= isNeededByOthers(node, session);
        fact.pointUsers.remove(session);
      }
    } else if (session.thins) {
      thinning(session.reach);
    }
  }

  private void thinning(Node tip) {
    for (Node at = tip; at != null; at = at.parent) {
      fact(at).pointMayGo = true;
    }
  }

  private boolean isNeededByOthers(Node node, Session own) {
    for (Session other : sessions) {
      boolean gone = other.end != End.OPEN && other.endAcknowledged && !other.complete;
      if (other != own && !gone && other.reach != null && node.isOnPathTo(other.reach)) {
        return true;
      }
    }
    return pins.stream().anyMatch(node::isOnPathTo) || mayBeKept(node);
  }

  private boolean mayBeKept(Node node) {
    return kept.values().stream()
        .flatMap(Set::stream)
        .anyMatch(tip -> tip.isPresent() && node.isOnPathTo(tip.get()));
  }

  /**
   * That call returned.
   *
   * @param durably whether it would have said what was lost of what the session rests on
   */
  void ended(Session session, boolean completedOnly, boolean durably) {
    if (completedOnly) {
      session.complete = true;
    }
    later(
        null,
        () -> {
          session.endAcknowledged = true;
          if (session.start != null && (durably || !session.startLost)) {
            fact(session.start).users.replace(session, true);
            fact(session.start).pointUsers.replace(session, true);
          }
        });
  }

  /**
   * A call has said that something could not be made durable, and is lost. Of what was appended the
   * receipts say whether it is; a session has none of what it went on from.
   */
  void lossSaid(Opened opened) {
    for (Session session : sessions) {
      session.startLost |= session.start != null && !opened.hasPoint(session.start);
    }
  }

  /** A call that deletes is about to be made, or is over. */
  void deleting(boolean value) {
    deleting = value;
  }

  /** Whether the running store is right to hold less than before. */
  boolean isDeleting() {
    return deleting;
  }

  /**
   * Looks at what the running store holds: what it has evicted need not be there after a crash. It
   * may be, as long as nothing said that the eviction is durable. What an append finds it may have
   * evicted itself, for room, and stored anew: then it is that session's alone.
   */
  void observe(Opened opened) {
    long now = opened.evictedBoundaries();
    if (now != evicted) {
      evicted = now;
      for (Node node : underWay) {
        if (pins.stream().noneMatch(node::isOnPathTo) && !mayBeKept(node)) {
          fact(node).forget();
          fact(node).users.put(appending, false);
        }
      }
    }
    facts.forEach((node, fact) -> fact.observe(opened.hasRows(node), opened.hasPoint(node)));
  }

  /** All that the running store did is durable: what it does not hold may not come back. */
  void settle(Opened opened) {
    facts.forEach(
        (node, fact) -> {
          fact.possible &= opened.hasRows(node);
          fact.pointPossible &= opened.hasPoint(node);
        });
    version++;
  }

  /** A name is about to keep a chain up to a node; empty: to be released. */
  void keeping(String name, Optional<Node> node) {
    keptBy(name).add(node);
    version++;
  }

  /** It durably does. */
  void keeps(String name, Optional<Node> node) {
    keptBy(name).clear();
    keptBy(name).add(node);
    version++;
  }

  private Set<Optional<Node>> keptBy(String name) {
    return kept.computeIfAbsent(name, n -> new HashSet<>(Set.of(Optional.empty())));
  }

  /** Names that may keep something. */
  Set<String> keptNames() {
    return Set.copyOf(kept.keySet());
  }

  void pinned(Node node) {
    pins.add(node);
  }

  void unpinned(Node node) {
    pins.remove(node);
  }

  private void later(CompletableFuture<Void> receipt, Runnable acknowledge) {
    pending.add(new Pending(acknowledge, receipt));
    version++;
  }

  /** Remembers what was told up to now, for {@link #acknowledge}. */
  int mark() {
    return pending.size();
  }

  /** All that was told before the mark is durable, says the store. */
  void acknowledge(int mark) {
    for (int i = 0; i < mark; i++) {
      Pending each = pending.get(i);
      if (each != null && !hasFailed(each)) {
        each.acknowledge().run();
        pending.set(i, null);
        version++;
      }
    }
  }

  /** Looks which receipts have been signed. */
  void poll() {
    for (int i = 0; i < pending.size(); i++) {
      Pending each = pending.get(i);
      if (each != null && each.receipt() != null && each.receipt().isDone() && !hasFailed(each)) {
        each.acknowledge().run();
        pending.set(i, null);
        version++;
      }
    }
  }

  private static boolean hasFailed(Pending each) {
    return each.receipt() != null && each.receipt().isCompletedExceptionally();
  }

  // What follows

  /**
   * Compares what a store holds after a crash, as it says itself.
   *
   * @throws Violation if it lacks what it has to hold, or holds what it may not
   */
  void check(Presence presence) {
    checkKept(presence);
    Set<Node> atRisk = pointsThatRecoveryMayThin();
    for (Map.Entry<Node, Fact> entry : facts.entrySet()) {
      Node node = entry.getKey();
      Fact fact = entry.getValue();
      boolean needed = isNeeded(fact);
      if (needed && !evicting && !presence.rows().contains(node)) {
        throw new Violation(Violation.Kind.LOST, "boundary " + node + " was acknowledged");
      }
      boolean point = isPointNeeded(fact, needed) && node.space.needsPoints();
      if (point && !evicting && !presence.points().contains(node)) {
        boolean superseded = fact.pointMayGo || atRisk.contains(node);
        if (!superseded || !presence.hasPointBelow(node)) {
          throw new Violation(Violation.Kind.LOST, "point " + node + " was acknowledged");
        }
      }
    }
    for (Node node : presence.rows()) {
      Fact fact = facts.get(node);
      if (fact == null || !fact.possible) {
        throw new Violation(Violation.Kind.WRONG, "boundary " + node + " was never stored");
      }
      boolean leaf = node.children.stream().noneMatch(presence.rows()::contains);
      if (leaf && isTakenBack(fact) && !mayBeKept(node)) {
        throw new Violation(Violation.Kind.WRONG, "boundary " + node + " was taken back");
      }
    }
    for (Node node : presence.points()) {
      if (node.space.needsPoints() && !facts.get(node).pointPossible) {
        throw new Violation(Violation.Kind.WRONG, "point " + node + " was never stored");
      }
    }
  }

  private void checkKept(Presence presence) {
    for (String name : presence.kept().keySet()) {
      keptBy(name);
    }
    kept.forEach(
        (name, may) -> {
          BoundaryKey key = presence.kept().get(name);
          boolean known = may.stream().anyMatch(m -> key == null ? m.isEmpty() : isAt(m, key));
          if (!known) {
            throw new Violation(
                key == null ? Violation.Kind.LOST : Violation.Kind.WRONG,
                "'"
                    + name
                    + "' keeps "
                    + (key == null ? "nothing" : "what it may not")
                    + " instead of "
                    + may);
          }
          for (Optional<Node> node : may) {
            if (key != null && isAt(node, key) && !presence.hasPointAt(node.get())) {
              throw new Violation(Violation.Kind.LOST, "point " + node.get() + " was kept");
            }
          }
        });
  }

  private static boolean isAt(Optional<Node> node, BoundaryKey key) {
    return node.isPresent() && key.equals(node.get().key);
  }

  private static boolean isNeeded(Fact fact) {
    if (fact.isEvicted()) {
      return false;
    }
    if (fact.settled) {
      return true;
    }
    for (Map.Entry<Session, Boolean> user : fact.users.entrySet()) {
      if (user.getValue() && user.getKey().isSurelyKept()) {
        return true;
      }
    }
    return false;
  }

  private static boolean isPointNeeded(Fact fact, boolean rowsNeeded) {
    if (fact.isPointEvicted()) {
      return false;
    }
    if (fact.pointSettled) {
      return true;
    }
    for (Map.Entry<Session, Boolean> user : fact.pointUsers.entrySet()) {
      boolean kept = user.getKey() == null || user.getKey().isSurelyKept();
      if (rowsNeeded && user.getValue() && kept) {
        return true;
      }
    }
    return false;
  }

  private static boolean isTakenBack(Fact fact) {
    return !fact.settled
        && !fact.spared
        && !fact.users.isEmpty()
        && fact.users.keySet().stream()
            .allMatch(user -> !user.complete && user.isSurelyDiscarded());
  }

  private Set<Node> pointsThatRecoveryMayThin() {
    Set<Node> nodes = new HashSet<>();
    for (Session session : sessions) {
      if (session.thins && !(session.end != End.OPEN && session.endAcknowledged)) {
        for (Node at = session.reach; at != null; at = at.parent) {
          nodes.add(at);
        }
      }
    }
    return nodes;
  }
}
