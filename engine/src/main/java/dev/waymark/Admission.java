package dev.waymark;

import dev.waymark.error.ClosedException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.QuotaException;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.error.RejectedException;
import dev.waymark.error.Rejection;
import dev.waymark.internal.admit.Budget;
import dev.waymark.internal.admit.Slope;

/**
 * Leave to prefill a prompt: room in the quota that others cannot take, a share of the memory
 * budget, and a hold on the chain that the prompt builds on. While the prefill runs, the measured
 * use of memory replaces the estimate. For any thread.
 *
 * <pre>{@code
 * try (Admission admission = ns.admit(match, plan); PrefillSession s = admission.prefill()) {
 *   for (Block b : residualBlocks) {
 *     admission.progress(s.tokens() + b.length(), server.bytesInUse());  // throws as soon as it cannot end
 *     s.append(b.tokens(), myCache.views());
 *   }
 *   s.promptComplete();
 * }
 * }</pre>
 *
 * <p>Closing returns the share of memory, and, if no prefill was started, the room. What a started
 * prefill did not use of its room it returns when it ends. Nothing of this is on disk: a process
 * that dies leaks none of it.
 */
public final class Admission implements AutoCloseable {
  private final StoreEngine engine;
  private final Namespace namespace;
  private final PrefillPlan plan;
  private final SessionStart start;
  private final Budget memory;
  private final Slope slope = new Slope();
  private final long predictedBytes;
  private long memoryBytes;
  private boolean started;
  private boolean closed;

  private Admission(
      StoreEngine engine,
      Namespace namespace,
      PrefillPlan plan,
      SessionStart start,
      long predictedBytes) {
    this.engine = engine;
    this.namespace = namespace;
    this.plan = plan;
    this.start = start;
    this.memory = engine.memory;
    this.predictedBytes = predictedBytes;
    this.memoryBytes = predictedBytes;
  }

  /** Admits, or gives the start back. */
  static Admission of(
      StoreEngine engine, Namespace namespace, PrefillPlan plan, SessionStart start) {
    try {
      long writable = engine.budget.leftBytes();
      if (start.estimate().writtenBytes() > writable) {
        throw overBudget(start, writable);
      }
      claimRoom(start);
      return new Admission(engine, namespace, plan, start, takeMemory(engine.memory, start, plan));
    } catch (RuntimeException | Error e) {
      start.abandon();
      throw e;
    }
  }

  private static RejectedException overBudget(SessionStart start, long leftBytes) {
    long predicted = start.estimate().writtenBytes();
    int longest = start.longestTokens();
    return new RejectedException(
        ErrorDetail.of("the day's write budget does not allow the prompt")
            .expected("at most " + leftBytes + " bytes")
            .found(predicted + " predicted")
            .remedy(
                longest == 0
                    ? "wait for the next day (UTC), or raise the budget"
                    : "wait for the next day (UTC), raise the budget, or store "
                        + longest
                        + " tokens of it"),
        Rejection.WRITE_BUDGET,
        predicted,
        leftBytes,
        predicted - leftBytes,
        longest);
  }

  private static void claimRoom(SessionStart start) {
    try {
      start.claimRoom();
    } catch (QuotaException e) {
      throw overQuota(start, e);
    }
  }

  private static RejectedException overQuota(SessionStart start, QuotaException cause) {
    long missing = cause.missingBytes();
    long predicted = start.estimate().allocatedBytes();
    int longest = start.longestTokens();
    return new RejectedException(
        longest == 0
            ? cause.detail()
            : cause.detail().remedy(cause.detail().remedy() + ", or store " + longest + " tokens"),
        cause instanceof QuotaPinnedException ? Rejection.QUOTA_PINNED : Rejection.QUOTA,
        predicted,
        predicted - missing,
        missing,
        longest,
        cause);
  }

  private static long takeMemory(Budget memory, SessionStart start, PrefillPlan plan) {
    long predicted = start.memoryBytes(plan.expectedTokens());
    if (!memory.tryTake(predicted)) {
      throw overMemory(
          "the prompt's state does not fit the memory budget",
          predicted + " predicted",
          memory,
          0,
          predicted,
          start.longestTokens());
    }
    return predicted;
  }

  /** {@return what the prefill was expected to cost when it was admitted} */
  public Estimate estimate() {
    return start.estimate();
  }

  /** {@return the share of the memory budget that it has now} */
  public synchronized long memoryBytes() {
    return memoryBytes;
  }

  /**
   * Starts the prefill; once. Makes the room that was promised, by eviction where that is needed.
   *
   * @return the session to append to
   * @throws dev.waymark.error.QuotaPinnedException if what was to be evicted was pinned meanwhile
   */
  public synchronized PrefillSession prefill() {
    if (closed || started) {
      throw new ClosedException(
          ErrorDetail.of("an admission is for one prefill")
              .expected("an admission that is open and was not used")
              .remedy("match and admit again"));
    }
    return engine.using(
        () -> {
          started = true;
          return engine.refusing(() -> PrefillSession.open(engine, namespace, plan, start));
        });
  }

  /**
   * Says how far the prefill is. What it will have in use at its end is told from the slope so far,
   * as soon as three reports have shown one; the share of the budget grows to that.
   *
   * @param tokens of the prompt that were computed
   * @param bytesInUse memory in use for this prefill
   * @throws RejectedException if what remains cannot fit; the session is to be aborted
   */
  public synchronized void progress(int tokens, long bytesInUse) {
    if (closed) {
      throw new ClosedException(ErrorDetail.of("the admission was closed"));
    }
    engine.refusing(
        () -> {
          take(tokens, bytesInUse);
          return null;
        });
  }

  private void take(int tokens, long bytesInUse) {
    slope.sample(tokens, bytesInUse);
    long atEnd =
        slope.isKnown() ? slope.atEnd(tokens, bytesInUse, plan.expectedTokens()) : bytesInUse;
    if (atEnd <= memoryBytes) {
      return;
    }
    if (!memory.tryTake(atEnd - memoryBytes)) {
      long room = memory.leftBytes() + memoryBytes;
      int longest =
          Longest.tokens(
              plan.expectedTokens(),
              end -> (slope.isKnown() ? slope.atEnd(tokens, bytesInUse, end) : atEnd) <= room);
      throw overMemory(
          "the prefill cannot end within the memory budget",
          "%d in use after %d of %d tokens, so %d at the end, where %d were predicted"
              .formatted(bytesInUse, tokens, plan.expectedTokens(), atEnd, predictedBytes),
          memory,
          memoryBytes,
          atEnd,
          longest);
    }
    memoryBytes = atEnd;
  }

  private static RejectedException overMemory(
      String what, String found, Budget memory, long ownBytes, long predicted, int longestTokens) {
    long limit = memory.limitBytes();
    long room = memory.leftBytes() + ownBytes;
    boolean forGood = predicted > limit;
    return new RejectedException(
        ErrorDetail.of(what)
            .expected(
                forGood
                    ? "at most " + limit + " bytes"
                    : "at most " + room + " bytes, which others leave of " + limit)
            .found(found)
            .remedy(memoryRemedy(forGood, longestTokens)),
        forGood ? Rejection.MEMORY : Rejection.MEMORY_IN_USE,
        predicted,
        forGood ? limit : room,
        predicted - (forGood ? limit : room),
        longestTokens);
  }

  private static String memoryRemedy(boolean forGood, int longestTokens) {
    if (forGood) {
      return longestTokens == 0
          ? "raise the budget"
          : "shorten the prompt to " + longestTokens + " tokens, or raise the budget";
    }
    return longestTokens == 0
        ? "try again when others have ended"
        : "try again when others have ended, or with " + longestTokens + " tokens";
  }

  /** Returns what it holds. Idempotent; a prefill that was started goes on. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    memory.give(memoryBytes);
    memoryBytes = 0;
    if (!started) {
      start.abandon();
    }
  }
}
