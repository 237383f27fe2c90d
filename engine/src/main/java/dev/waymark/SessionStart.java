package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StaleMatchException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.retain.PointPlan;
import dev.waymark.internal.retain.StateCosts;
import java.util.List;

/**
 * What a prefill has before it begins: a hold on the chain that it builds on, a plan of its points,
 * and room for all that it is expected to write.
 */
record SessionStart(
    StoreEngine engine,
    Forest.Hold tip,
    PointPlan points,
    QuotaGate.Reservation reservation,
    NamespacePromises.Promise promise) {

  /**
   * Holds the chain, then makes the room; what cannot fit is refused before anything is written.
   *
   * @param start a restore point of the match, or 0
   */
  static SessionStart hold(
      StoreEngine engine, Namespace namespace, PrefixMatch match, PrefillPlan plan, int start) {
    NamespaceState state = namespace.state();
    Held held = engine.publisher.write(() -> held(engine, state, match, plan, start));
    QuotaGate.Reservation reservation = engine.space.gate().reservation();
    NamespacePromises.Promise promise = engine.space.promise(state);
    try {
      int widen = engine.budget.widen();
      PrefillEstimate estimate = new PrefillEstimate(state, engine.segments.sizing());
      long records =
          estimate.recordBytes(
              start,
              held.storedTokens(),
              plan.expectedTokens(),
              plan(namespace, match, plan, held.pointTokens(), widen));
      engine.budget.require(records);
      engine.space.grow(state, promise, records);
      engine.space.reserve(reservation, estimate.allocatedBytes(records));
      return new SessionStart(
          engine,
          held.tip(),
          plan(namespace, match, plan, held.pointTokens(), widen),
          reservation,
          promise);
    } catch (RuntimeException | Error e) {
      reservation.end();
      end(engine, promise);
      release(engine, held.tip());
      throw e;
    } finally {
      release(engine, held.stored());
    }
  }

  /**
   * That the chain is still there, which only damage takes away; the caller is inside a write.
   *
   * @throws StaleMatchException if it is not
   */
  void requireThere() {
    if (!tip.isValid()) {
      throw new StaleMatchException(
          ErrorDetail.of("what the prefill starts from was lost meanwhile").remedy("match again"));
    }
  }

  /** Gives everything back, where the session did not come to be. */
  void abandon() {
    reservation.end();
    end(engine, promise);
    release(engine, tip);
  }

  /**
   * The chain.
   *
   * @param stored the deepest boundary of the match that is still there
   */
  private record Held(
      Forest.Hold tip, Forest.Hold stored, int storedTokens, List<Integer> pointTokens) {}

  private static Held held(
      StoreEngine engine, NamespaceState state, PrefixMatch match, PrefillPlan plan, int start) {
    Forest forest = engine.forest;
    if (forest.namespace(state.id()) == null) {
      throw new StaleMatchException(
          ErrorDetail.of("the namespace was deleted").remedy("ask the store for it again"));
    }
    int node =
        start == 0
            ? forest.rootNode(state.id(), match.keyAt(0))
            : forest.find(state.id(), match.keyAt(start));
    if (node == Forest.NONE || (start > 0 && !forest.isRestorable(node))) {
      throw new StaleMatchException(
          ErrorDetail.of("the restore point at " + start + " tokens is not there any more")
              .remedy("match again"));
    }
    int deepest = node;
    int block = state.layout().blockTokens();
    for (int at = start + block; at <= match.storedTokens(); at += block) {
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
        Thinning.pointTokens(forest, node));
  }

  private static PointPlan plan(
      Namespace namespace,
      PrefixMatch match,
      PrefillPlan plan,
      List<Integer> pointTokens,
      int widen) {
    return new PointPlan(
        plan.policy(),
        namespace.layout(),
        new StateCosts(namespace.layout(), namespace.codecs()),
        plan.expectedTokens(),
        match.branchTokens(),
        pointTokens,
        widen);
  }

  private static void end(StoreEngine engine, NamespacePromises.Promise promise) {
    engine.publisher.write(
        () -> {
          promise.end();
          return null;
        });
  }

  private static void release(StoreEngine engine, Forest.Hold hold) {
    engine.publisher.write(
        () -> {
          engine.forest.release(hold);
          return null;
        });
  }
}
