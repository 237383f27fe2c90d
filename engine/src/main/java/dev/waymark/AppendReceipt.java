package dev.waymark;

import java.util.concurrent.CompletableFuture;

/**
 * What one append did.
 *
 * @param tokens tokens of the prefix up to the last boundary that it made or found
 * @param skippedTokens tokens behind that boundary, fewer than a block: append them again, with the
 *     rest of their block
 * @param appendedBytes payload written, rows and point together; 0 where all was stored already
 * @param pointAdded whether the last boundary became a restore point by this append
 * @param pointSkipped whether it would have, and was left out under {@link BackPressure#WIDEN}
 * @param durable completes once all of it is durable, or fails once it is known to be lost;
 *     receipts complete in the order in which what they stand for was published. What is made to
 *     depend on it runs on a thread of the store, or inside another's call of it: it may use the
 *     store, but neither close it nor wait there
 */
public record AppendReceipt(
    int tokens,
    int skippedTokens,
    long appendedBytes,
    boolean pointAdded,
    boolean pointSkipped,
    CompletableFuture<Void> durable) {}
