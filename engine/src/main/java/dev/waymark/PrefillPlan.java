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
 */
public record PrefillPlan(
    int expectedTokens,
    int startTokens,
    RestorePolicy policy,
    AbortMode abortMode,
    Durability durability) {
  /** Starts from the deepest restore point that the match found. */
  public static final int DEEPEST = -1;

  /** Checks the ranges. */
  public PrefillPlan {
    if (expectedTokens < 0 || startTokens < DEEPEST) {
      throw new InvalidSettingException(
          ErrorDetail.of("a prefill's plan is out of range")
              .expected("tokens of 0 or more")
              .found(expectedTokens + " from " + startTokens));
    }
  }

  /** A prompt of that many tokens, with the default policy, kept when it is aborted. */
  public static PrefillPlan tokens(int expectedTokens) {
    return new PrefillPlan(expectedTokens, DEEPEST, RestorePolicy.DEFAULT, AbortMode.KEEP, null);
  }

  /** A copy with another policy. */
  public PrefillPlan policy(RestorePolicy value) {
    return new PrefillPlan(expectedTokens, startTokens, value, abortMode, durability);
  }

  /** A copy with another abort mode. */
  public PrefillPlan onAbort(AbortMode value) {
    return new PrefillPlan(expectedTokens, startTokens, policy, value, durability);
  }

  /** A copy with another durability. */
  public PrefillPlan durability(Durability value) {
    return new PrefillPlan(expectedTokens, startTokens, policy, abortMode, value);
  }

  /** A copy that starts from another restorable boundary of the match, or from 0. */
  public PrefillPlan from(int tokens) {
    return new PrefillPlan(expectedTokens, tokens, policy, abortMode, durability);
  }
}
