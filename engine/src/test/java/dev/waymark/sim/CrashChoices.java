package dev.waymark.sim;

/**
 * Decides wherever a power loss leaves a choice. Asked in an order that depends only on what the
 * directory went through, so that the same answers make the same state. Versions are numbered from
 * 0, the oldest, which was durable.
 */
public interface CrashChoices {
  /** Answer of {@link #page}: sector by sector. */
  int TORN = -1;

  /** Whether the change of a name survives, of those not yet durable, numbered in their order. */
  boolean survives(int change);

  /** Which of its lengths a file has. */
  int length(long file, int versions);

  /**
   * Whether pages without content are allocated as they last were, or as they were when durable.
   */
  boolean allocation(long file);

  /** Which version a page has, or {@link #TORN}. */
  int page(long file, int page, int versions);

  /** Which version a sector of a torn page has. */
  int sector(long file, int page, int sector, int versions);
}
