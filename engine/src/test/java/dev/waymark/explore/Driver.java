package dev.waymark.explore;

import dev.waymark.AppendReceipt;
import dev.waymark.CompactionReport;
import dev.waymark.Durability;
import dev.waymark.ExploredStore;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.error.WaymarkException;
import dev.waymark.explore.Space.Leaf;
import dev.waymark.explore.Space.Node;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;

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
  private final World world;
  private boolean withinQuota = true;
  private boolean failed;

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
    this.world = opened.world();
  }

  /** Whether the last step's call failed. */
  boolean hasFailed() {
    return failed;
  }

  /** Whether no call has said that what is above the quota cannot go. */
  boolean isWithinQuota() {
    return withinQuota;
  }

  /** One step. */
  void step() {
    attempt(
        () -> {
          if (world.isFull() && random.nextInt(5) == 0) {
            chooseReclaim();
          } else if (world.isChurned() && random.nextInt(3) == 0) {
            churn();
          } else {
            choose();
          }
        });
  }

  /** Writes a new manifest. */
  void checkpoint() {
    attempt(this::writeManifest);
  }

  /** A full store may refuse, and may take what was matched before it is built on. */
  private boolean isForLackOfRoom(WaymarkException e) {
    return world.isFull()
        && (e instanceof QuotaExceededException
            || e instanceof QuotaPinnedException
            || e instanceof StaleMatchException);
  }

  private void chooseReclaim() {
    switch (random.nextInt(8)) {
      case 0, 1 -> keep();
      case 2 -> release();
      case 3 -> deleteChain();
      case 4 -> deleteUnused();
      case 5 -> deleteNamespace();
      case 6 -> compact();
      default -> lowerQuota();
    }
  }

  private void churn() {
    switch (random.nextInt(8)) {
      case 0 -> keep();
      case 1 -> release();
      case 2 -> deleteChain();
      case 3 -> deleteUnused();
      default -> compact();
    }
  }

  private void choose() {
    int dice = random.nextInt(100);
    if (prefills.isEmpty() || (dice < 15 && prefills.size() < MOST_OPEN)) {
      open();
    } else if (dice < 20 && prefills.size() < MOST_OPEN - 1) {
      meet();
    } else if (dice < 62) {
      append(any());
    } else if (dice < 70) {
      finishOrGrow(any(), false);
    } else if (dice < 78) {
      finishOrGrow(any(), true);
    } else if (dice < 83) {
      flush();
      oracle.settle(opened);
    } else if (dice < 90) {
      tick();
    } else if (dice < 93) {
      writeManifest();
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
    open(world.anyLeaf(random), anyDurability());
  }

  private Durability anyDurability() {
    return Durability.values()[random.nextInt(3)];
  }

  private void open(Leaf leaf, Durability durability) {
    PrefixMatch match = match(leaf);
    int start = match.restorableTokens();
    if (random.nextInt(3) == 0) {
      int choice = random.nextInt(match.points().length + 1);
      start = choice == 0 ? 0 : match.points()[choice - 1];
    }
    open(leaf, durability, anyPolicy(), match, start);
  }

  private RestorePolicy anyPolicy() {
    return POLICIES[random.nextInt(POLICIES.length)];
  }

  /**
   * Two prefills of one prompt meet, both from its beginning, over rows that may be no session's
   * any more. One ends complete; the other goes on, and may take back what it added.
   */
  private void meet() {
    Leaf leaf = world.anyLeaf(random);
    int blocks = 1 + random.nextInt(2);
    if (random.nextBoolean()) {
      Prefill rows = openAtRoot(leaf, RestorePolicy.LAST);
      append(rows, blocks + 1);
      complete(rows);
      end(rows);
    }
    Prefill first = openAtRoot(leaf, RestorePolicy.EVERY);
    Prefill second = openAtRoot(leaf, anyPolicy());
    append(first, blocks);
    append(second, blocks);
    boolean early = random.nextBoolean();
    if (early) {
      complete(second);
    }
    append(first, 1);
    append(second, 1);
    if (!early) {
      complete(second);
    }
    end(second);
  }

  private Prefill openAtRoot(Leaf leaf, RestorePolicy policy) {
    open(leaf, anyDurability(), policy, match(leaf), 0);
    return prefills.get(prefills.size() - 1);
  }

  private void open(
      Leaf leaf, Durability durability, RestorePolicy policy, PrefixMatch match, int start) {
    boolean discard = random.nextInt(3) == 0;
    PrefillPlan plan =
        PrefillPlan.tokens(leaf.tokens.length + random.nextInt(3))
            .policy(policy)
            .onAbort(discard ? AbortMode.DISCARD : AbortMode.KEEP)
            .durability(durability);
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
    Set<Node> found = nodes.stream().filter(opened::hasPoint).collect(Collectors.toSet());
    oracle.appending(prefill.told, nodes);
    AppendReceipt receipt;
    try {
      receipt = prefill.session.append(tokens, prefill.leaf.views(from + blocks));
    } catch (WaymarkException e) {
      hear(e);
      if (world.isFull()) {
        oracle.appendFailed(opened);
      }
      // What was lost under it does not come back; another prefill may start.
      if (tolerant && random.nextInt(3) == 0) {
        end(prefill);
      }
      throw e;
    }
    if (world.isFull()) {
      oracle.observe(opened);
    }
    oracle.appended(prefill.told, nodes, receipt.pointAdded(), found, receipt.durable());
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
    oracle.ended(prefill.told, true, prefill.durability != Durability.NONE);
    if (prefill.durability != Durability.NONE) {
      oracle.acknowledge(mark + 1);
    }
  }

  private void end(Prefill prefill) {
    prefills.remove(prefill);
    if (prefill.complete) {
      log.accept("close " + prefill.told.reach + " " + prefill.durability);
      addingPoint(prefill);
      oracle.ending(prefill.told, Oracle.End.KEPT);
      prefill.session.close();
      return;
    }
    int how = random.nextInt(4);
    boolean discard = how == 0 || (how == 3 && prefill.told.discardMode);
    log.accept("end " + prefill.told.reach + (discard ? " discarding " : " keeping ") + how);
    if (how == 2) {
      addingPoint(prefill);
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
    oracle.ended(prefill.told, false, false);
    if (discard || prefill.durability != Durability.NONE) {
      oracle.acknowledge(mark + 1);
    }
  }

  private void addingPoint(Prefill prefill) {
    if (prefill.blocks() > 0) {
      oracle.addingPoint(prefill.leaf.node(prefill.blocks()));
    }
  }

  /** Everything that was told before is durable once this returned. */
  void flush() {
    log.accept("flush");
    int mark = oracle.mark();
    try {
      opened.store().flush();
    } catch (DurabilityLostException e) {
      hear(e);
      throw e;
    }
    oracle.poll();
    oracle.acknowledge(mark);
  }

  private void tick() {
    log.accept("tick");
    opened.store().runOnce();
    oracle.poll();
  }

  private void writeManifest() {
    log.accept("checkpoint");
    ExploredStore.checkpoint(opened.store());
    oracle.poll();
  }

  private void pin() {
    log.accept("pin");
    Leaf leaf = world.anyLeaf(random);
    PrefixMatch match = match(leaf);
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

  private PrefixMatch match(Leaf leaf) {
    return opened.namespace(leaf.space()).match(Prompt.ofTokens(leaf.tokens), leaf.tokens.length);
  }

  // Reclaim

  private void keep() {
    Leaf leaf = world.anyLeaf(random);
    PrefixMatch match = match(leaf);
    if (match.restorableTokens() == 0) {
      return;
    }
    Optional<Node> node = Optional.of(leaf.node(match.restorableTokens() / Space.BLOCK));
    String name = keptName(leaf.space());
    log.accept("keep " + node.get() + " as " + name);
    oracle.keeping(name, node);
    opened.namespace(leaf.space()).keep(match, name);
    oracle.keeps(name, node);
  }

  private String keptName(Space space) {
    return space.name + (random.nextBoolean() ? " one" : " other");
  }

  private void release() {
    String name = keptName(world.anyLeaf(random).space());
    log.accept("release " + name);
    oracle.keeping(name, Optional.empty());
    opened.store().maintenance().release(name);
    opened.store().flush();
    oracle.keeps(name, Optional.empty());
  }

  private void deleteChain() {
    Leaf leaf = world.anyLeaf(random);
    PrefixMatch match = match(leaf);
    if (match.storedTokens() > 0) {
      log.accept("delete " + leaf.path);
      delete(() -> opened.store().maintenance().deleteChain(match, false));
    }
  }

  private void deleteUnused() {
    long before = ExploredStore.nextSequence(opened.store()) / 2;
    log.accept("delete what was used before " + before);
    delete(() -> opened.store().maintenance().deleteUsedBefore(before, false));
  }

  private void deleteNamespace() {
    Space space = world.spaces().get(random.nextInt(world.spaces().size()));
    log.accept("delete " + space.name);
    Namespace namespace = opened.namespace(space);
    delete(() -> opened.store().maintenance().deleteNamespace(namespace, false));
    opened.forget(space);
    opened.namespace(space);
  }

  /** What was deleted does not come back once the call returned. */
  private void delete(Runnable call) {
    oracle.keptNames().forEach(name -> oracle.keeping(name, Optional.empty()));
    oracle.deleting(true);
    try {
      call.run();
    } finally {
      oracle.observe(opened);
      oracle.deleting(false);
    }
    Set<String> kept = ExploredStore.kept(opened.store()).keySet();
    oracle.keptNames().stream()
        .filter(name -> !kept.contains(name))
        .forEach(name -> oracle.keeps(name, Optional.empty()));
    oracle.poll();
    oracle.settle(opened);
  }

  /** Between two segments someone may begin to read what is copied next. */
  private void compact() {
    double ratio = random.nextInt(4) / 3.0;
    log.accept("compact to " + ratio);
    CompactionReport.Progress progress =
        (done, of, bytes) -> {
          if (done < of && pins.size() < MOST_OPEN && random.nextBoolean()) {
            pin();
          }
          return true;
        };
    opened.store().maintenance().compact(ratio, Long.MAX_VALUE, false, progress);
  }

  private void lowerQuota() {
    log.accept("lower the quota");
    withinQuota = false;
    opened.store().setQuota(world.lowQuotaBytes());
    withinQuota = true;
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
    failed = false;
    try {
      call.run();
    } catch (WaymarkException e) {
      failed = true;
      if (!tolerant && !isForLackOfRoom(e)) {
        throw new Violation(Violation.Kind.UNUSABLE, "a call failed: " + e.getMessage(), e);
      }
      hear(e);
      log.accept("  failed: " + e.getMessage());
    }
  }

  /** At once: what is done next may already rest on what was said. */
  private void hear(WaymarkException e) {
    if (e instanceof DurabilityLostException) {
      oracle.lossSaid(opened);
    }
  }

  /** Appends blocks of one prompt and nothing else: a task to run beside another. */
  void appendOnly(Durability durability, int calls) {
    Space space = world.spaces().get(0);
    open(space.leaves.get(random.nextInt(space.leaves.size())), durability);
    Prefill prefill = prefills.get(prefills.size() - 1);
    for (int i = 0; i < calls && prefill.blocks() < prefill.leaf.path.size(); i++) {
      append(prefill, 1);
    }
  }
}
