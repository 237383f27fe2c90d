package dev.waymark.internal.publish;

import java.util.TreeMap;

/**
 * Who may still look at bytes of dead records: each reader is known by the number of the last edit
 * when it began. What died by a later edit stays until it ends.
 */
public final class Readers {
  private final TreeMap<Long, Integer> startedAt = new TreeMap<>();

  /** A reader begins. */
  public synchronized void begin(long published) {
    startedAt.merge(published, 1, Integer::sum);
  }

  /** A reader ends. */
  public synchronized void end(long published) {
    startedAt.computeIfPresent(published, (number, count) -> count == 1 ? null : count - 1);
  }

  /** The number of the oldest reader, or the largest number where there is none. */
  public synchronized long oldest() {
    return startedAt.isEmpty() ? Long.MAX_VALUE : startedAt.firstKey();
  }
}
