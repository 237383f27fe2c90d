package dev.waymark.explore;

import dev.waymark.Durability;
import dev.waymark.ExploredStore;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.RecoveryReport;
import dev.waymark.RestoredState;
import dev.waymark.StoreStats;
import dev.waymark.StoreVerifier;
import dev.waymark.error.WaymarkException;
import dev.waymark.explore.Space.Leaf;
import dev.waymark.explore.Space.Node;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.sim.SimulatedDirectory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/** Looks at an open store: does everything come back, and do the bytes add up. */
final class Inspection {
  /**
   * The account sets a page aside for LOCK, which is empty here, and one for CURRENT's successor.
   */
  private static final long ASIDE_BYTES = 2 * 4_096;

  private Inspection() {}

  /** Restores every point (of rows alone, the deepest of each prompt) and compares all bytes. */
  static void content(Opened opened, Presence presence) {
    Set<Node> restored = new HashSet<>();
    for (Space space : opened.world().spaces()) {
      if (presence.rows().stream().noneMatch(node -> node.space == space)) {
        continue;
      }
      for (Leaf leaf : space.leaves) {
        PrefixMatch match =
            opened.namespace(space).match(Prompt.ofTokens(leaf.tokens), leaf.tokens.length);
        int[] points = match.points();
        int first = space.needsPoints() ? 0 : Math.max(0, points.length - 1);
        for (int i = first; i < points.length; i++) {
          if (restored.add(leaf.node(points[i] / Space.BLOCK))) {
            restore(match, leaf, points[i]);
          }
        }
      }
    }
  }

  private static void restore(PrefixMatch match, Leaf leaf, int tokens) {
    try (RestoredState state = match.restore(tokens)) {
      read(state, leaf, tokens / Space.BLOCK);
    } catch (WaymarkException e) {
      throw new Violation(
          Violation.Kind.LOST,
          "a point that is there cannot be restored: "
              + leaf.node(tokens / Space.BLOCK)
              + ": "
              + e.getMessage(),
          e);
    }
  }

  /** Reads all of a restore and compares it. */
  static void read(RestoredState state, Leaf leaf, int blocks) {
    List<ByteBuffer> memory = leaf.memory();
    state.read(leaf.views(blocks, memory));
    state.finish();
    String difference = leaf.difference(blocks, memory);
    if (difference != null) {
      throw new Violation(
          Violation.Kind.WRONG, "wrong bytes at " + leaf.node(blocks) + ": " + difference);
    }
  }

  /** The account equals itself, what is there, and the directory's own count. */
  static void account(Opened opened, SimulatedDirectory directory, Presence presence) {
    StoreStats stats = opened.store().stats();
    long sum = stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes();
    if (sum != stats.allocatedBytes()
        || stats.liveBytes() < 0
        || stats.deadBytes() < 0
        || stats.framingBytes() < 0
        || stats.reservedBytes() < 0) {
      throw new Violation(Violation.Kind.ACCOUNT, "the account does not add up: " + stats);
    }
    long off = stats.allocatedBytes() - directory.allocatedBytes();
    if (off < 0 || off > ASIDE_BYTES) {
      throw new Violation(
          Violation.Kind.ACCOUNT,
          "the account differs from the directory's by " + off + ": " + stats + "\n" + directory);
    }
    requireWithinQuota(opened, directory);
    requireCharged(opened);
    if (presence != null
        && (stats.boundaries() != presence.rows().size()
            || stats.points() != presence.countedPoints())) {
      throw new Violation(
          Violation.Kind.ACCOUNT,
          "orphans: " + stats + " but only " + presence.rows() + " and " + presence.points());
    }
  }

  /** All that the directory occupies is within the quota. */
  static void requireWithinQuota(Opened opened, SimulatedDirectory directory) {
    long quota = opened.store().stats().quotaBytes();
    if (directory.allocatedBytes() > quota) {
      throw new Violation(
          Violation.Kind.ACCOUNT,
          directory.allocatedBytes() + " bytes in a quota of " + quota + "\n" + directory);
    }
  }

  /** What segments occupy is what the quota is charged with: else it is overrun sooner or later. */
  static void requireCharged(Opened opened) {
    long uncharged = ExploredStore.unchargedBytes(opened.store());
    if (uncharged != 0) {
      throw new Violation(
          Violation.Kind.ACCOUNT, uncharged + " bytes of segments do not count in the quota");
    }
  }

  /** Nothing was damaged: a crash leaves nothing that recovery would have to set aside. */
  static void requireUndamaged(RecoveryReport report) {
    if (!report.findings().isEmpty()) {
      throw new Violation(Violation.Kind.LOST, "recovery finds damage: " + report.findings());
    }
  }

  /** Verification finds nothing in a store that was closed. */
  static void verify(SimulatedDirectory directory, LongSupplier clock) {
    StoreVerifier.Report report = ExploredStore.verify(directory, clock);
    if (report.isDamaged() || report.isTorn()) {
      throw new Violation(Violation.Kind.WRONG, "verify finds " + report.findings());
    }
  }

  /**
   * Appends a prompt from its root on, with a point at each boundary, and restores each: whatever
   * of its rows was there is read too, and what is new goes beside it.
   */
  static void use(Opened opened, Leaf leaf, Oracle oracle) {
    Oracle.Session told = oracle.opened(false, false, null);
    try {
      PrefixMatch match =
          opened.namespace(leaf.space()).match(Prompt.ofTokens(leaf.tokens), leaf.tokens.length);
      PrefillPlan plan =
          PrefillPlan.tokens(leaf.tokens.length)
              .policy(RestorePolicy.EVERY)
              .durability(Durability.GROUP)
              .from(0);
      try (PrefillSession session = opened.namespace(leaf.space()).prefill(match, plan)) {
        for (int block = 0; block < leaf.path.size(); block++) {
          int[] tokens =
              Arrays.copyOfRange(leaf.tokens, block * Space.BLOCK, (block + 1) * Space.BLOCK);
          oracle.appending(told, List.of(leaf.node(block + 1)));
          session.append(tokens, leaf.views(block + 1));
        }
        oracle.ending(told, Oracle.End.KEPT);
        session.promptComplete();
      }
    } catch (WaymarkException e) {
      throw new Violation(Violation.Kind.UNUSABLE, "appending fails: " + e.getMessage(), e);
    }
    PrefixMatch match =
        opened.namespace(leaf.space()).match(Prompt.ofTokens(leaf.tokens), leaf.tokens.length);
    if (match.restorableTokens() != leaf.tokens.length) {
      throw new Violation(Violation.Kind.UNUSABLE, "what was appended is not restorable");
    }
    for (int tokens : match.points()) {
      restore(match, leaf, tokens);
    }
  }
}
