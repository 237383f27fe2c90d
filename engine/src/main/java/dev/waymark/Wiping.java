package dev.waymark;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.retain.Victim;
import dev.waymark.internal.retain.Wipe;
import java.util.function.IntPredicate;

/**
 * Drops everything of some kind, in steps, so that others have their turn and the manifest is
 * counted in between.
 *
 * <p>Invariants: the forest is looked through once, however much goes. What others stored, hold or
 * keep since then stays, with what it stands on.
 */
final class Wiping {
  private final StoreEngine engine;
  private final Wipe wipe;

  Wiping(StoreEngine engine, IntPredicate wanted, boolean keptToo, Victim.Reason reason) {
    this.engine = engine;
    this.wipe = new Wipe(engine.forest, wanted, keptToo, reason);
  }

  /** What would go now. */
  EvictionReport preview() {
    return engine.publisher.read(() -> preview(engine.forest, wipe));
  }

  /** What a wipe would do to a forest that does not change meanwhile. */
  static EvictionReport preview(Forest forest, Wipe wipe) {
    Tally tally = new Tally(forest);
    for (int node : wipe.plan()) {
      tally.add(wipe.victim(node));
    }
    return tally.report();
  }

  /**
   * Drops it.
   *
   * @param last done together with the last step
   */
  EvictionReport run(Runnable last) {
    Tally tally = new Tally(engine.forest);
    int[] plan = engine.publisher.read(wipe::plan);
    int done = 0;
    do {
      int from = done;
      int to = Math.min(plan.length, from + SpaceKeeper.STEP_BOUNDARIES);
      engine.publisher.write(
          () -> {
            for (int i = from; i < to; i++) {
              drop(plan[i], tally);
            }
            if (to == plan.length) {
              last.run();
            }
            return null;
          });
      done = to;
      engine.space.giveBack();
    } while (done < plan.length);
    return tally.report();
  }

  private void drop(int node, Tally tally) {
    if (wipe.canGo(node)) {
      Victim victim = wipe.victim(node);
      tally.add(victim);
      engine.drop(victim, DropReason.WIPED);
    }
  }
}
