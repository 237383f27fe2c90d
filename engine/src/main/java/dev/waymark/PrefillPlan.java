package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.RestorePolicy;

/**
 * What is known of a prefill before it starts.
 *
 * @param expectedTokens length of the prompt
 * @param startTokens boundary to start from, or {@link #DEEPEST}
 * @param policy where restore points go
 * @param abortMode what becomes of it when it is not completed, also when the process dies
 * @param durability when it is forced, or null for the store's
 * @param memoryBytesPerToken what a token of the prompt takes in the caller's memory, where that is
 *     known better than from the layout; else 0
 */
public record PrefillPlan(
    int expectedTokens,
    int startTokens,
    RestorePolicy policy,
    AbortMode abortMode,
    Durability durability,
    long memoryBytesPerToken) {
  /** Starts from the deepest restore point that the match found. */
  public static final int DEEPEST = -1;

  /** Checks the ranges. */
  public PrefillPlan {
    if (expectedTokens < 0 || startTokens < DEEPEST || memoryBytesPerToken < 0) {
      throw new InvalidSettingException(
          ErrorDetail.of("a prefill's plan is out of range")
              .expected("tokens and bytes of 0 or more")
              .found(expectedTokens + " from " + startTokens));
    }
  }

  /** A prompt of that many tokens, with the default policy, kept when it is aborted. */
  public static PrefillPlan tokens(int expectedTokens) {
    return new PrefillPlan(expectedTokens, DEEPEST, RestorePolicy.DEFAULT, AbortMode.KEEP, null, 0);
  }

  /** A copy with another policy. */
  public PrefillPlan policy(RestorePolicy value) {
    return new PrefillPlan(
        expectedTokens, startTokens, value, abortMode, durability, memoryBytesPerToken);
  }

  /** A copy with another abort mode. */
  public PrefillPlan onAbort(AbortMode value) {
    return new PrefillPlan(
        expectedTokens, startTokens, policy, value, durability, memoryBytesPerToken);
  }

  /** A copy with another durability. */
  public PrefillPlan durability(Durability value) {
    return new PrefillPlan(
        expectedTokens, startTokens, policy, abortMode, value, memoryBytesPerToken);
  }

  /** A copy that starts from another restorable boundary of the match, or from 0. */
  public PrefillPlan from(int tokens) {
    return new PrefillPlan(
        expectedTokens, tokens, policy, abortMode, durability, memoryBytesPerToken);
  }

  /** A copy for a model whose cost of a token in the caller's memory is known. */
  public PrefillPlan memoryBytesPerToken(long value) {
    return new PrefillPlan(expectedTokens, startTokens, policy, abortMode, durability, value);
  }
}
