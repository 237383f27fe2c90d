package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.RestorePolicy;
import java.util.Objects;

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
 * @param backPressure what an append does when too much is on its way to the disk, or null for the
 *     store's
 */
public record PrefillPlan(
    int expectedTokens,
    int startTokens,
    RestorePolicy policy,
    AbortMode abortMode,
    Durability durability,
    long memoryBytesPerToken,
    BackPressure backPressure) {
  /** Starts from the deepest restore point that the match found. */
  public static final int DEEPEST = -1;

  /**
   * Checks the ranges.
   *
   * @param expectedTokens length of the prompt
   * @param startTokens boundary to start from, or {@link #DEEPEST}
   * @param policy where restore points go
   * @param abortMode what becomes of it when it is not completed, also when the process dies
   * @param durability when it is forced, or null for the store's
   * @param memoryBytesPerToken what a token of the prompt takes in the caller's memory, where that
   *     is known better than from the layout; else 0
   * @param backPressure what an append does when too much is on its way to the disk, or null for
   *     the store's
   * @throws InvalidSettingException if a number is out of its range
   */
  public PrefillPlan {
    Objects.requireNonNull(policy, "policy");
    Objects.requireNonNull(abortMode, "abortMode");
    if (expectedTokens < 0 || startTokens < DEEPEST || memoryBytesPerToken < 0) {
      throw new InvalidSettingException(
          ErrorDetail.of("a prefill's plan is out of range")
              .expected("tokens and bytes of 0 or more")
              .found(expectedTokens + " from " + startTokens));
    }
  }

  /**
   * {@return a prompt of that many tokens, with the default policy, kept when it is aborted}
   *
   * @param expectedTokens tokens of the whole prompt, 0 or more
   */
  public static PrefillPlan tokens(int expectedTokens) {
    return new PrefillPlan(
        expectedTokens, DEEPEST, RestorePolicy.DEFAULT, AbortMode.KEEP, null, 0, null);
  }

  /**
   * {@return a copy with another policy}
   *
   * @param value where points are to be
   */
  public PrefillPlan policy(RestorePolicy value) {
    return new PrefillPlan(
        expectedTokens,
        startTokens,
        value,
        abortMode,
        durability,
        memoryBytesPerToken,
        backPressure);
  }

  /**
   * {@return a copy with another abort mode}
   *
   * @param value what an abort does
   */
  public PrefillPlan onAbort(AbortMode value) {
    return new PrefillPlan(
        expectedTokens, startTokens, policy, value, durability, memoryBytesPerToken, backPressure);
  }

  /**
   * {@return a copy with another durability}
   *
   * @param value the level
   */
  public PrefillPlan durability(Durability value) {
    return new PrefillPlan(
        expectedTokens, startTokens, policy, abortMode, value, memoryBytesPerToken, backPressure);
  }

  /**
   * {@return a copy that starts from another restorable boundary of the match, or from 0}
   *
   * @param tokens tokens of that boundary
   */
  public PrefillPlan from(int tokens) {
    return new PrefillPlan(
        expectedTokens, tokens, policy, abortMode, durability, memoryBytesPerToken, backPressure);
  }

  /**
   * {@return a copy for a model whose cost of a token in the caller's memory is known}
   *
   * @param value bytes a token, 0 where that is not known
   */
  public PrefillPlan memoryBytesPerToken(long value) {
    return new PrefillPlan(
        expectedTokens, startTokens, policy, abortMode, durability, value, backPressure);
  }

  /**
   * {@return a copy with another choice of what an append does when too much is on its way to the
   * disk}
   *
   * @param value what it does, or null for the store's
   */
  public PrefillPlan backPressure(BackPressure value) {
    return new PrefillPlan(
        expectedTokens, startTokens, policy, abortMode, durability, memoryBytesPerToken, value);
  }
}
