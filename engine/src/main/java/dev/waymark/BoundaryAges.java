package dev.waymark;

import dev.waymark.internal.forest.Forest;

/**
 * When the oldest and the newest boundary were added. To know that, all are walked over, so it is
 * looked up at most once a minute.
 */
final class BoundaryAges {
  private static final long KEPT_MILLIS = 60_000;

  private final StoreEngine engine;
  private Ages known;

  /**
   * As of a moment.
   *
   * @param oldestMillis wall clock, whole seconds; 0 where there is no boundary
   * @param newestMillis likewise
   */
  record Ages(long atMillis, long oldestMillis, long newestMillis) {}

  BoundaryAges(StoreEngine engine) {
    this.engine = engine;
  }

  /**
   * What is known.
   *
   * @param anew whether to look in any case
   */
  synchronized Ages get(boolean anew) {
    long now = engine.clockMillis.getAsLong();
    boolean none = known == null || known.oldestMillis() == 0;
    if (anew || none || Math.abs(now - known.atMillis()) >= KEPT_MILLIS) {
      known = engine.publisher.read(() -> look(now));
    }
    return known;
  }

  private Ages look(long now) {
    Forest forest = engine.forest;
    long[] bounds = {Long.MAX_VALUE, 0};
    forest.forEachBoundary(
        node -> {
          bounds[0] = Math.min(bounds[0], forest.addedMillis(node));
          bounds[1] = Math.max(bounds[1], forest.addedMillis(node));
        });
    return new Ages(now, bounds[0] == Long.MAX_VALUE ? 0 : bounds[0], bounds[1]);
  }
}
