package dev.waymark;

import java.util.List;

/**
 * What was dropped to make room, or would be.
 *
 * @param boundaries boundaries
 * @param points restore points
 * @param freedBytes whole pages of the records that went with them
 * @param chains what went, chain by chain, in order; of more than {@link #MOST_CHAINS} only the
 *     first
 */
public record EvictionReport(long boundaries, long points, long freedBytes, List<Chain> chains) {
  /** Chains that a report lists. */
  public static final int MOST_CHAINS = 1_000;

  /** Nothing. */
  public static final EvictionReport NOTHING = new EvictionReport(0, 0, 0, List.of());

  /**
   * The end of one chain.
   *
   * @param namespace first 8 hex digits of its namespace's fingerprint
   * @param key first 8 hex digits of its last boundary's key
   * @param fromTokens where what stays ends
   * @param toTokens where it ended
   * @param boundaries boundaries that go
   * @param freedBytes whole pages of their records
   * @param reason why they go
   */
  public record Chain(
      String namespace,
      String key,
      int fromTokens,
      int toTokens,
      int boundaries,
      long freedBytes,
      String reason) {}
}
