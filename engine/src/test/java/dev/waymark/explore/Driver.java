package dev.waymark.explore;

import dev.waymark.AppendReceipt;
import dev.waymark.Durability;
import dev.waymark.ExploredStore;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.error.WaymarkException;
import dev.waymark.explore.Space.Leaf;
import dev.waymark.explore.Space.Node;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * Does to a store what a server does, one seeded step after another, and tells the oracle. Steps of
 * several drivers on one store may be interleaved.
 */
final class Driver {
  private static final int MOST_OPEN = 3;

  private static final RestorePolicy[] POLICIES = {
    RestorePolicy.EVERY, RestorePolicy.DEFAULT, RestorePolicy.LAST, RestorePolicy.stride(2)
  };

  /** A prefill under way. */
  private static final class Prefill {
    final PrefillSession session;
    final Oracle.Session told;
    final Leaf leaf;
    final Durability durability;
    boolean complete;

    Prefill(PrefillSession session, Oracle.Session told, Leaf leaf, Durability durability) {
      this.session = session;
      this.told = told;
      this.leaf = leaf;
      this.durability = durability;
    }

    int blocks() {
      return session.tokens() / Space.BLOCK;
    }
  }

  private record Pin(RestoredState state, Node node) {}

  private final Opened opened;
  private final Oracle oracle;
  private final SplittableRandom random;
  private final boolean tolerant;
  private final Consumer<String> log;
  private final List<Prefill> prefills = new ArrayList<>();
  private final List<Pin> pins = new ArrayList<>();
  private final List<Space> spaces;
  private int failures;

  /**
   * A driver.
   *
   * @param tolerant whether calls may fail, since faults are injected
   */
  Driver(
      Opened opened,
      Oracle oracle,
      SplittableRandom random,
      boolean tolerant,
      Consumer<String> log) {
    this.log = log;
    this.opened = opened;
    this.oracle = oracle;
    this.random = random;
    this.tolerant = tolerant;
    this.spaces =
        switch (random.nextInt(6)) {
          case 0 -> List.of(Space.ROWS, Space.POINTS);
          case 1 -> List.of(Space.WIDE, Space.POINTS);
          case 2 -> List.of(Space.WIDE);
          default -> List.of(Space.POINTS);
        };
  }

  /** Calls that failed with a typed error. */
  int failures() {
    return failures;
  }

  /** One step. */
  void step() {
    try {
      choose();
    } catch (WaymarkException e) {
      if (!tolerant) {
        throw new Violation(Violation.Kind.UNUSABLE, "a call failed: " + e.getMessage(), e);
      }
      failures++;
      log.accept("  failed: " + e.getMessage());
    }
  }

  private void choose() {
    int dice = random.nextInt(100);
    if (prefills.isEmpty() || (dice < 15 && prefills.size() < MOST_OPEN)) {
      open();
    } else if (dice < 62) {
      append(any());
    } else if (dice < 70) {
      finishOrGrow(any(), false);
    } else if (dice < 78) {
      finishOrGrow(any(), true);
    } else if (dice < 83) {
      flush();
    } else if (dice < 90) {
      tick();
    } else if (dice < 93) {
      checkpoint();
    } else if (dice < 97) {
      pin();
    } else {
      unpin();
    }
  }

  /** Few servers begin a prefill and append nothing. */
  private void finishOrGrow(Prefill prefill, boolean complete) {
    if (prefill.told.used.isEmpty() && random.nextInt(8) > 0) {
      append(prefill);
    } else if (complete) {
      complete(prefill);
    } else {
      end(prefill);
    }
  }

  private Prefill any() {
    return prefills.get(random.nextInt(prefills.size()));
  }

  /** Starts a prefill: from the deepest point, from the root, or from some point. */
  private void open() {
    Space space = spaces.get(random.nextInt(spaces.size()));
    Leaf leaf = space.leaves.get(random.nextInt(space.leaves.size()));
    Durability durability = Durability.values()[random.nextInt(3)];
    open(leaf, durability);
  }

  private void open(Leaf leaf, Durability durability) {
    PrefixMatch match =
        opened.namespace(leaf.space()).match(Prompt.ofTokens(leaf.tokens), leaf.tokens.length);
    boolean discard = random.nextInt(3) == 0;
    RestorePolicy policy = POLICIES[random.nextInt(POLICIES.length)];
    PrefillPlan plan =
        PrefillPlan.tokens(leaf.tokens.length + random.nextInt(3))
            .policy(policy)
            .onAbort(discard ? AbortMode.DISCARD : AbortMode.KEEP)
            .durability(durability);
    int start = match.restorableTokens();
    if (random.nextInt(3) == 0) {
      int choice = random.nextInt(match.points().length + 1);
      start = choice == 0 ? 0 : match.points()[choice - 1];
    }
    PrefillSession session = opened.namespace(leaf.space()).prefill(match, plan.from(start));
    Node node = start == 0 ? null : leaf.node(start / Space.BLOCK);
    Oracle.Session told = oracle.opened(discard, !policy.equals(RestorePolicy.EVERY), node);
    log.accept("prefill from " + node + " of " + leaf.path + ": " + plan);
    prefills.add(new Prefill(session, told, leaf, durability));
  }

  private void append(Prefill prefill) {
    int from = prefill.blocks();
    int most = prefill.leaf.path.size() - from;
    if (most == 0) {
      complete(prefill);
      return;
    }
    append(prefill, Math.min(most, 1 + random.nextInt(2)));
  }

  private void append(Prefill prefill, int blocks) {
    int from = prefill.blocks();
    List<Node> nodes = List.copyOf(prefill.leaf.path.subList(from, from + blocks));
    int[] tokens =
        Arrays.copyOfRange(prefill.leaf.tokens, from * Space.BLOCK, (from + blocks) * Space.BLOCK);
    log.accept("append " + nodes + " " + prefill.durability);
    oracle.appending(prefill.told, nodes);
    AppendReceipt receipt;
    try {
      receipt = prefill.session.append(tokens, prefill.leaf.views(from + blocks));
    } catch (WaymarkException e) {
      // What was lost under it does not come back; another prefill may start.
      if (tolerant && random.nextInt(3) == 0) {
        end(prefill);
      }
      throw e;
    }
    oracle.appended(prefill.told, nodes, receipt.pointAdded(), receipt.durable());
    if (prefill.durability == Durability.COMMIT) {
      if (!receipt.durable().isDone()) {
        throw new Violation(Violation.Kind.WRONG, "COMMIT returned before all was durable");
      }
    }
    oracle.poll();
  }

  private void complete(Prefill prefill) {
    if (prefill.complete) {
      end(prefill);
      return;
    }
    oracle.ending(prefill.told, Oracle.End.KEPT);
    int mark = oracle.mark();
    log.accept("complete " + prefill.told.reach + " " + prefill.durability);
    // Whether it fails or not: it may be complete from here on.
    prefill.complete = true;
    prefill.session.promptComplete();
    oracle.ended(prefill.told, true);
    if (prefill.durability != Durability.NONE) {
      oracle.acknowledge(mark + 1);
    }
  }

  private void end(Prefill prefill) {
    prefills.remove(prefill);
    if (prefill.complete) {
      log.accept("close " + prefill.told.reach + " " + prefill.durability);
      oracle.addingPoint(prefill.told);
      oracle.ending(prefill.told, Oracle.End.KEPT);
      prefill.session.close();
      return;
    }
    int how = random.nextInt(4);
    boolean discard = how == 0 || (how == 3 && prefill.told.discardMode);
    log.accept("end " + prefill.told.reach + (discard ? " discarding " : " keeping ") + how);
    if (how == 2) {
      oracle.addingPoint(prefill.told);
    }
    oracle.ending(prefill.told, discard ? Oracle.End.DISCARDED : Oracle.End.KEPT);
    int mark = oracle.mark();
    switch (how) {
      case 0 -> prefill.session.abort(AbortMode.DISCARD);
      case 1 -> prefill.session.abort(AbortMode.KEEP);
      case 2 -> {
        int blocks = prefill.blocks();
        if (blocks == 0) {
          prefill.session.abort(AbortMode.KEEP);
        } else {
          prefill.session.abortKeeping(prefill.leaf.views(blocks));
        }
      }
      default -> prefill.session.close();
    }
    oracle.ended(prefill.told, false);
    if (discard || prefill.durability != Durability.NONE) {
      oracle.acknowledge(mark + 1);
    }
  }

  /** Everything that was told before is durable once this returned. */
  void flush() {
    log.accept("flush");
    int mark = oracle.mark();
    opened.store().flush();
    oracle.poll();
    oracle.acknowledge(mark);
  }

  private void tick() {
    log.accept("tick");
    opened.store().runOnce();
    oracle.poll();
  }

  private void checkpoint() {
    log.accept("checkpoint");
    ExploredStore.checkpoint(opened.store());
    oracle.poll();
  }

  private void pin() {
    log.accept("pin");
    Space space = spaces.get(random.nextInt(spaces.size()));
    Leaf leaf = space.leaves.get(random.nextInt(space.leaves.size()));
    PrefixMatch match =
        opened.namespace(space).match(Prompt.ofTokens(leaf.tokens), leaf.tokens.length);
    if (match.points().length == 0) {
      return;
    }
    int tokens = match.points()[random.nextInt(match.points().length)];
    Node node = leaf.node(tokens / Space.BLOCK);
    oracle.pinned(node);
    try {
      pins.add(new Pin(match.restore(tokens), node));
    } catch (WaymarkException e) {
      oracle.unpinned(node);
      throw e;
    }
  }

  /** Reads through a pin what may have been taken back meanwhile, and lets go. */
  private void unpin() {
    if (pins.isEmpty()) {
      return;
    }
    Pin pin = pins.remove(random.nextInt(pins.size()));
    Leaf leaf = leafOver(pin.node());
    try (RestoredState state = pin.state()) {
      Inspection.read(state, leaf, pin.node().depth);
    } finally {
      oracle.unpinned(pin.node());
    }
  }

  private static Leaf leafOver(Node node) {
    for (Leaf leaf : node.space.leaves) {
      if (leaf.path.contains(node)) {
        return leaf;
      }
    }
    throw new IllegalStateException("no leaf");
  }

  /** Ends every prefill and restore. */
  void finish() {
    while (!pins.isEmpty()) {
      attempt(this::unpin);
    }
    while (!prefills.isEmpty()) {
      attempt(() -> end(prefills.get(0)));
    }
  }

  private void attempt(Runnable call) {
    try {
      call.run();
    } catch (WaymarkException e) {
      if (!tolerant) {
        throw new Violation(Violation.Kind.UNUSABLE, "a call failed: " + e.getMessage(), e);
      }
      failures++;
    }
  }

  /** Appends blocks of one prompt and nothing else: a task to run beside another. */
  void appendOnly(Durability durability, int calls) {
    Space space = spaces.get(0);
    open(space.leaves.get(random.nextInt(space.leaves.size())), durability);
    Prefill prefill = prefills.get(prefills.size() - 1);
    for (int i = 0; i < calls && prefill.blocks() < prefill.leaf.path.size(); i++) {
      append(prefill, 1);
    }
  }
}
