package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.retain.PointPlan;
import dev.waymark.internal.retain.StateCosts;
import dev.waymark.layout.BoundaryKey;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * What a prefill has before it begins: a hold on the chain that it builds on, a count of what it
 * will cost, and room for that, promised or made.
 *
 * <p>Invariant: what was held, promised and made is given back once, by the session that took it
 * over or by {@link #abandon}.
 */
final class SessionStart {
  private static final long COUNTED_QUOTAS = 16;

  private final StoreEngine engine;
  private final Namespace namespace;
  private final PrefixMatch match;
  private final PrefillPlan plan;
  private final int widen;
  private final int tokens;
  private final Held held;
  private final Estimate estimate;
  private final QuotaGate.Reservation reservation;
  private final NamespacePromises.Promise promise;
  private QuotaGate.Claim claim;

  /**
   * The chain.
   *
   * @param stored the deepest boundary of the match that is still there
   * @param pointTokens points up to the tip, which the session knows of
   * @param storedPointTokens points up to the deepest boundary
   * @param coverage window rows up to there
   */
  private record Held(
      Forest.Hold tip,
      Forest.Hold stored,
      int storedTokens,
      List<Integer> pointTokens,
      List<Integer> storedPointTokens,
      WindowCoverage coverage) {}

  private SessionStart(
      StoreEngine engine,
      Namespace namespace,
      PrefixMatch match,
      PrefillPlan plan,
      long enoughBytes) {
    this.engine = engine;
    this.namespace = namespace;
    this.match = match;
    this.plan = plan;
    this.widen = engine.budget.widen();
    this.tokens =
        plan.startTokens() == PrefillPlan.DEEPEST ? match.restorableTokens() : plan.startTokens();
    if (tokens > 0 && Arrays.binarySearch(match.points(), tokens) < 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a prefill starts where there is no restore point")
              .expected("0 or one of the match's points")
              .found(tokens));
    }
    this.held = engine.publisher.write(this::takeHold);
    this.reservation = engine.space.gate().reservation();
    this.promise = engine.space.promise(namespace.state());
    this.claim = engine.space.gate().noClaim();
    try {
      this.estimate = estimateOf(plan.expectedTokens(), enoughBytes);
    } catch (RuntimeException | Error e) {
      abandon();
      throw e;
    }
  }

  /** Holds the chain that a match found, as far as it is still there. */
  static SessionStart hold(
      StoreEngine engine, Namespace namespace, PrefixMatch match, PrefillPlan plan) {
    // What is as far beyond the quota as this is refused, however far.
    long enough = COUNTED_QUOTAS * engine.space.gate().quotaBytes();
    return new SessionStart(engine, namespace, match, plan, enough);
  }

  /** The same, and all that the prefill would cost is counted, be it more than ever fits. */
  static SessionStart holdAndCount(
      StoreEngine engine, Namespace namespace, PrefixMatch match, PrefillPlan plan) {
    return new SessionStart(engine, namespace, match, plan, Long.MAX_VALUE);
  }

  private Held takeHold() {
    NamespaceState state = namespace.state();
    Forest forest = engine.forest;
    if (forest.namespace(state.id()) == null) {
      throw new StaleMatchException(
          ErrorDetail.of("the namespace was deleted").remedy("ask the store for it again"));
    }
    int node =
        tokens == 0
            ? forest.rootNode(state.id(), match.keyAt(0))
            : forest.find(state.id(), match.keyAt(tokens));
    if (node == Forest.NONE || (tokens > 0 && !forest.isRestorable(node))) {
      throw new StaleMatchException(
          ErrorDetail.of("the restore point at " + tokens + " tokens is not there any more")
              .remedy("match again"));
    }
    int deepest = node;
    int block = state.layout().blockTokens();
    for (int at = tokens + block; at <= match.storedTokens(); at += block) {
      int next = forest.find(state.id(), match.keyAt(at));
      if (next == Forest.NONE || forest.parent(next) != deepest) {
        break;
      }
      deepest = next;
    }
    return new Held(
        forest.hold(node),
        forest.hold(deepest),
        forest.tokens(deepest),
        Thinning.pointTokens(forest, node),
        Thinning.pointTokens(forest, deepest),
        WindowCoverage.of(state.layout(), forest, deepest));
  }

  /** Tokens of the boundary that it builds on. */
  int tokens() {
    return tokens;
  }

  /** The boundary that it builds on, held for the session. */
  Forest.Hold tip() {
    return held.tip();
  }

  /** Its key. */
  BoundaryKey tipKey() {
    return match.keyAt(tokens);
  }

  /** Room for what the session will write. */
  QuotaGate.Reservation reservation() {
    return reservation;
  }

  /** What the session may still bring into its namespace. */
  NamespacePromises.Promise promise() {
    return promise;
  }

  /** What the prefill will cost. */
  Estimate estimate() {
    return estimate;
  }

  /**
   * The most tokens of the prompt that every limit would admit now: quota, namespace's quota, write
   * budget and memory budget. The claim is withdrawn for it, since this is asked where the whole is
   * refused.
   */
  int longestTokens() {
    claim.withdraw();
    long writable = engine.budget.leftBytes();
    long memory = engine.memory.leftBytes();
    long namespaceMost = engine.space.namespaceLimitBytes(namespace.state());
    long room = engine.space.claimableBytes();
    // What takes more than that does not fit, however much more.
    long enough = Math.max(0, Math.min(namespaceMost, room));
    return Longest.tokens(
        plan.expectedTokens(),
        end -> {
          if (memoryBytes(end) > memory) {
            return false;
          }
          Estimate cost = estimateOf(end, enough);
          return cost.writtenBytes() <= writable
              && cost.mostWrittenBytes() <= namespaceMost
              && cost.allocatedBytes() <= room;
        });
  }

  /** What it would cost at another length, counted until it is clear that it takes more. */
  private Estimate estimateOf(int expectedTokens, long enoughBytes) {
    return new PrefillEstimator(namespace.state(), engine.segments.sizing(), engine.options)
        .estimate(
            tokens,
            held.storedTokens(),
            Set.copyOf(held.storedPointTokens()),
            held.coverage().copy(),
            expectedTokens,
            points(expectedTokens),
            enoughBytes);
  }

  /** What the model's state takes in memory after so many tokens, as far as is known. */
  long memoryBytes(int atTokens) {
    return plan.memoryBytesPerToken() > 0
        ? saturated(plan.memoryBytesPerToken(), atTokens)
        : Estimate.memoryBytes(namespace.layout(), atTokens);
  }

  private static long saturated(long bytesPerToken, int tokens) {
    return bytesPerToken > Long.MAX_VALUE / Math.max(1, tokens)
        ? Long.MAX_VALUE
        : bytesPerToken * tokens;
  }

  /** A plan of the session's points. */
  PointPlan points() {
    return points(plan.expectedTokens());
  }

  private PointPlan points(int expectedTokens) {
    return new PointPlan(
        plan.policy(),
        namespace.layout(),
        new StateCosts(namespace.layout(), namespace.codecs()),
        expectedTokens,
        match.branchTokens(),
        held.pointTokens(),
        widen);
  }

  /**
   * Sees to it that the room can be made, whatever others ask for, without making it yet.
   *
   * @throws dev.waymark.error.QuotaExceededException if so much does not fit an empty store
   * @throws dev.waymark.error.QuotaPinnedException if what is in the way is pinned, kept, or
   *     promised or reserved to others
   */
  void claimRoom() {
    claim = engine.space.claim(namespace.state(), estimate);
  }

  /** Makes the room; what cannot fit is refused before anything is written or evicted. */
  void makeRoom() {
    engine.budget.require(estimate.writtenBytes());
    engine.space.grow(namespace.state(), promise, estimate.mostWrittenBytes());
    engine.space.reserve(claim, reservation, estimate.allocatedBytes());
    // The rows that the match found are needed up to here only: the session meets them again.
    release(held.stored());
  }

  /**
   * That the chain is still there, which only damage takes away; the caller is inside a write.
   *
   * @throws StaleMatchException if it is not
   */
  void requireThere() {
    if (!held.tip().isValid()) {
      throw new StaleMatchException(
          ErrorDetail.of("what the prefill starts from was lost meanwhile").remedy("match again"));
    }
  }

  /** Gives everything back, where the session did not come to be. */
  void abandon() {
    claim.withdraw();
    reservation.end();
    engine.publisher.write(
        () -> {
          promise.end();
          engine.forest.release(held.tip());
          engine.forest.release(held.stored());
          return null;
        });
  }

  private void release(Forest.Hold hold) {
    engine.publisher.write(
        () -> {
          engine.forest.release(hold);
          return null;
        });
  }
}
