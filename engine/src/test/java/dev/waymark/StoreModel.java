package dev.waymark;

import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * What one namespace of a store should hold, in plain maps: which boundaries, and which of them are
 * points. Written from the promises and not from the code. Of a lattice, and where points may not
 * be durable yet, it takes over what the store thinned, and holds it to what was promised.
 */
final class StoreModel {
  /** A boundary, or the root. */
  static final class Node {
    final Node parent;
    final int tokens;
    final Map<List<Integer>, Node> children = new LinkedHashMap<>();

    /** Open sessions that added or use it, while no one else does. */
    final Set<Session> users = new LinkedHashSet<>();

    boolean point;
    int holds;

    Node(Node parent, int tokens) {
      this.parent = parent;
      this.tokens = tokens;
    }

    boolean isRoot() {
      return parent == null;
    }
  }

  /** What a match should say. */
  record Expected(int stored, int branch, int[] points) {}

  final Layout layout;
  private final Node root = new Node(null, 0);
  final List<Session> open = new ArrayList<>();

  StoreModel(Layout layout) {
    this.layout = layout;
  }

  Node walk(int[] prompt, int limit) {
    Node node = root;
    while (node.tokens + layout.blockTokens() <= Math.min(prompt.length, limit)) {
      Node next = node.children.get(block(prompt, node.tokens));
      if (next == null) {
        return node;
      }
      node = next;
    }
    return node;
  }

  Expected match(int[] prompt, int limit) {
    Node deepest = walk(prompt, prompt.length);
    int blocks = prompt.length / layout.blockTokens() * layout.blockTokens();
    boolean leaves = deepest.tokens < blocks && !deepest.children.isEmpty();
    int[] points =
        chain(deepest).stream()
            .filter(node -> isRestorable(node) && node.tokens <= limit)
            .mapToInt(node -> node.tokens)
            .toArray();
    return new Expected(deepest.tokens, leaves ? deepest.tokens : 0, points);
  }

  boolean isRestorable(Node node) {
    return node.point || !layout.needsPoints();
  }

  long boundaries() {
    return count(root, false) - 1;
  }

  long points() {
    return count(root, true);
  }

  private static long count(Node node, boolean points) {
    long count = !points || node.point ? 1 : 0;
    for (Node child : node.children.values()) {
      count += count(child, points);
    }
    return count;
  }

  private List<Integer> block(int[] prompt, int from) {
    return Arrays.stream(prompt, from, from + layout.blockTokens()).boxed().toList();
  }

  static List<Node> chain(Node tip) {
    List<Node> chain = new ArrayList<>();
    for (Node node = tip; !node.isRoot(); node = node.parent) {
      chain.add(0, node);
    }
    return chain;
  }

  private static void remove(Node node) {
    node.parent.children.values().remove(node);
  }

  /** The process died; what was open is closed as recovery does it, the newest first. */
  void recover(Function<Node, Set<Integer>> stored) {
    for (Node node : all(root, new ArrayList<>())) {
      node.holds = 0;
    }
    List<Session> newestFirst = new ArrayList<>(open);
    Collections.reverse(newestFirst);
    for (Session session : newestFirst) {
      if (session.complete) {
        open.remove(session);
      } else if (session.mode == AbortMode.DISCARD) {
        session.discard();
      } else {
        if (!session.own.isEmpty()) {
          Node tip = session.own.get(session.own.size() - 1);
          session.tip = root;
          session.thin(tip, session.isExact() ? null : stored.apply(tip));
        }
        session.closed(false);
      }
    }
  }

  private static List<Node> all(Node node, List<Node> into) {
    into.add(node);
    node.children.values().forEach(child -> all(child, into));
    return into;
  }

  /** One prefill. */
  final class Session {
    private final RestorePolicy policy;
    private final AbortMode mode;
    private final Durability durability;
    private final int last;
    private final int branch;
    private final Set<Integer> known = new TreeSet<>();
    private final List<Node> own = new ArrayList<>();
    private final List<Node> ownPoints = new ArrayList<>();
    private Node tip;
    private int held;
    private boolean complete;

    Session(
        int[] prompt,
        int start,
        int branch,
        RestorePolicy policy,
        AbortMode mode,
        Durability durability,
        int expected) {
      this.policy = policy;
      this.mode = mode;
      this.durability = durability;
      this.branch = branch;
      int block = layout.blockTokens();
      this.last = expected == 0 ? 0 : (expected - 1) / block * block;
      tip = walk(prompt, start);
      tip.holds++;
      chain(tip).stream().filter(node -> node.point).forEach(node -> known.add(node.tokens));
      open.add(this);
      List<Node> shared = new ArrayList<>();
      for (Node at = tip; !at.isRoot() && (at == tip || !at.users.isEmpty()); at = at.parent) {
        shared.add(0, at);
      }
      shared.forEach(this::useExisting);
    }

    /** What another may take back, and this one came to. */
    private void useExisting(Node node) {
      if (complete) {
        disown(node);
      } else if (!node.users.isEmpty()) {
        if (!node.users.contains(this)) {
          use(node);
        }
      } else if (mayBeTakenBack(node) && !ownPoints.contains(node)) {
        ownPoints.add(node);
      }
    }

    int tokens() {
      return tip.tokens;
    }

    boolean isComplete() {
      return complete;
    }

    AbortMode mode() {
      return mode;
    }

    boolean isExact() {
      return policy.kind() != RestorePolicy.Kind.LATTICE;
    }

    /** Whether the policy puts a point at a boundary, as far as it is bound to. */
    boolean wants(int to) {
      if (!layout.needsPoints() || known.contains(to)) {
        return false;
      }
      int block = to / layout.blockTokens();
      return to == last
          || to == branch
          || switch (policy.kind()) {
            case EVERY -> true;
            case STRIDE -> block % policy.argument() == 0;
            case LAST, LATTICE -> false;
          };
    }

    int nextPoint() {
      for (int to = tip.tokens + layout.blockTokens(); to <= last; to += layout.blockTokens()) {
        if (wants(to)) {
          return to;
        }
      }
      return 0;
    }

    /**
     * Whole blocks were appended.
     *
     * @param tail tokens behind the last of them
     * @param views whether window and state were given
     * @param pointAdded what the store said
     * @param pointSkipped likewise, under pressure
     */
    void append(
        int[] prompt, int to, int tail, boolean views, boolean pointAdded, boolean pointSkipped) {
      boolean wanted = false;
      boolean expected = false;
      while (tip.tokens < to) {
        Node next = tip.children.get(block(prompt, tip.tokens));
        if (next == null) {
          next = new Node(tip, tip.tokens + layout.blockTokens());
          tip.children.put(block(prompt, tip.tokens), next);
          if (!complete) {
            use(next);
          }
        } else {
          useExisting(next);
        }
        tip.holds--;
        tip = next;
        tip.holds++;
        wanted = pointSkipped || (tip.tokens == to && tail == 0 && wants(to));
        expected = wanted && !tip.point && !pointSkipped;
        if (tip.point) {
          known.add(tip.tokens);
        }
      }
      if (pointSkipped && (to == last || to == branch || tip.point || isExact() && !wants(to))) {
        throw new AssertionError("%s at %d: a point was left out".formatted(policy, to));
      }
      if (isExact() ? pointAdded != expected : expected && !pointAdded) {
        throw new AssertionError(
            "%s at %d: point added %s, should be %s".formatted(policy, to, pointAdded, expected));
      }
      if (pointAdded) {
        addPoint();
      } else if (complete && tail == 0 && views && !wanted && layout.needsPoints()) {
        held = to;
      }
    }

    private void use(Node node) {
      node.users.add(this);
      own.add(node);
    }

    private void addPoint() {
      tip.point = true;
      known.add(tip.tokens);
      if (!complete) {
        ownPoints.add(tip);
      }
    }

    /** The prompt is complete; what the store has on the chain then is given for lattices. */
    void complete(Set<Integer> stored) {
      closed(false);
      thin(tip, decided(stored));
      complete = true;
      open.add(this);
    }

    /**
     * What of it only the store can know: nothing, where the policy says all, and all is durable.
     */
    private Set<Integer> decided(Set<Integer> stored) {
      return isExact() && durability != Durability.NONE ? null : stored;
    }

    /**
     * Drops what newer points supersede that stay.
     *
     * @param stored what is left, where it is the store that decides; else null
     */
    void thin(Node from, Set<Integer> stored) {
      List<Node> points =
          chain(from).stream().filter(node -> node.point && !mayBeTakenBack(node)).toList();
      for (int i = 0; i < points.size() - 1; i++) {
        Node node = points.get(i);
        boolean mayGo =
            switch (policy.kind()) {
              case EVERY -> false;
              case STRIDE -> node.tokens / layout.blockTokens() % policy.argument() != 0;
              case LAST, LATTICE -> true;
            };
        boolean heldByOthers = node.holds - (node == tip ? 1 : 0) > 0;
        mayGo &= node.children.size() < 2 && !heldByOthers && node.users.size() < 2;
        boolean goes = stored == null ? mayGo : !stored.contains(node.tokens);
        if (goes && !mayGo) {
          throw new AssertionError("a point at " + node.tokens + " was thinned that is used");
        }
        node.point = !goes;
      }
    }

    private boolean mayBeTakenBack(Node node) {
      return open.stream().anyMatch(other -> other != this && other.ownPoints.contains(node));
    }

    /** Ended by a close or an abort. */
    void end(AbortMode how, boolean views, Set<Integer> stored) {
      if (views && tip.tokens > 0 && !tip.point && layout.needsPoints()) {
        addPoint();
      }
      if (complete) {
        if (held == tip.tokens && held > 0) {
          tip.point = true;
        }
        thin(tip, decided(stored));
      }
      tip.holds--;
      if (complete) {
        open.remove(this);
      } else if (how == AbortMode.DISCARD) {
        discard();
      } else {
        closed(false);
      }
    }

    private void discard() {
      for (int i = ownPoints.size() - 1; i >= 0; i--) {
        Node node = ownPoints.get(i);
        if (node.holds == 0 && !isShared(node) && !mayBeTakenBack(node)) {
          node.point = false;
        }
      }
      for (int i = own.size() - 1; i >= 0; i--) {
        Node node = own.get(i);
        if (node.children.isEmpty() && !node.point && node.holds == 0 && !isShared(node)) {
          remove(node);
        }
      }
      closed(true);
    }

    private boolean isShared(Node node) {
      return node.users.stream().anyMatch(user -> user != this);
    }

    private void closed(boolean discarded) {
      open.remove(this);
      if (!discarded) {
        List.copyOf(own).forEach(StoreModel.this::disown);
        List.copyOf(ownPoints).forEach(StoreModel.this::disown);
      }
      for (Node node : own) {
        node.users.remove(this);
        // Who is left has to take back the point as well.
        if (ownPoints.contains(node) && !node.users.isEmpty()) {
          Session heir = node.users.iterator().next();
          heir.ownPoints.add(node);
          heir.ownPoints.sort((a, b) -> a.tokens - b.tokens);
        }
      }
      own.clear();
      ownPoints.clear();
    }
  }

  /** What one of those who share it keeps is nobody's to take back any more. */
  private void disown(Node node) {
    node.users.forEach(user -> user.own.remove(node));
    node.users.clear();
    open.forEach(session -> session.ownPoints.remove(node));
  }
}
