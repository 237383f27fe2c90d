package dev.waymark.layout;

/** Whose chain goes first when room has to be made. */
public enum EvictionPolicy {
  /** The one that was used longest ago; counted in uses, not by a clock. */
  LRU,
  /**
   * The one whose loss costs the least computation for each byte that comes back, the longer ago it
   * was used the less.
   */
  RECOMPUTE_PER_BYTE
}
