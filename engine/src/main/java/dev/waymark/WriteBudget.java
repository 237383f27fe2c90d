package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WriteBudgetExhaustedException;
import dev.waymark.internal.manifest.Edit;
import java.util.Optional;

/**
 * What may still be written on this day (UTC). What was written is kept in the manifest, so that a
 * restart does not give a new day.
 *
 * <p>As it runs low, the lattice of restore points widens; then prefills are refused.
 */
final class WriteBudget {
  private static final long DAY_MILLIS = 86_400_000L;
  private static final int SAVES_PER_BUDGET = 64;

  private final StoreEngine engine;
  private final long limitBytes;
  private long day;
  private long spentBefore;
  private long writtenAtStart;
  private long savedBytes;

  WriteBudget(StoreEngine engine) {
    this.engine = engine;
    this.limitBytes = engine.options.writeBudgetBytesPerDay();
    Optional<Edit.BudgetSpent> spent = engine.forest.budgetSpent();
    // A clock that was set back meanwhile is not a new day either.
    this.day = Math.max(today(), spent.map(Edit.BudgetSpent::epochDay).orElse(Long.MIN_VALUE));
    this.spentBefore =
        spent.filter(s -> s.epochDay() == day).map(Edit.BudgetSpent::writtenBytes).orElse(0L);
    this.savedBytes = spentBefore;
  }

  boolean isLimited() {
    return limitBytes != StoreOptions.NO_WRITE_BUDGET;
  }

  /** Bytes written on this day, by this process and those before it. */
  synchronized long spentBytes() {
    long today = today();
    // A clock that goes back does not give the budget of a day a second time.
    if (today > day) {
      day = today;
      spentBefore = 0;
      savedBytes = 0;
      writtenAtStart = engine.writtenBytes();
    }
    return spentBefore + engine.writtenBytes() - writtenAtStart;
  }

  /** What is left of the day's bytes. */
  long leftBytes() {
    return isLimited() ? Math.max(0, limitBytes - spentBytes()) : Long.MAX_VALUE;
  }

  /** By how many powers of two the lattice is wider: one once half is gone, and so on. */
  int widen() {
    if (!isLimited()) {
      return 0;
    }
    long left = leftBytes();
    int widen = 0;
    for (long share = limitBytes / 2; widen < 8 && left < share; share /= 2) {
      widen++;
    }
    return widen;
  }

  /**
   * Before so much is written.
   *
   * @throws WriteBudgetExhaustedException if the day has not so much left
   */
  void require(long bytes) {
    if (isLimited() && bytes > leftBytes()) {
      throw new WriteBudgetExhaustedException(
          ErrorDetail.of("the day's write budget does not allow it")
              .expected("at most " + limitBytes + " bytes a day (UTC)")
              .found(spentBytes() + " written, and " + bytes + " more asked for")
              .remedy("wait for the next day, or raise the budget"));
    }
  }

  /** Says in the manifest what was written, where that is much more than it says. */
  void save(boolean always) {
    if (!isLimited()) {
      return;
    }
    long spent = spentBytes();
    boolean due;
    synchronized (this) {
      due = spent != savedBytes && (always || spent - savedBytes > limitBytes / SAVES_PER_BUDGET);
      if (due) {
        savedBytes = spent;
      }
    }
    if (due) {
      engine.publisher.write(
          () -> {
            engine.publisher.publishIfRoom(new Edit.BudgetSpent(day, Math.max(0, spent)));
            return null;
          });
    }
  }

  private long today() {
    return Math.floorDiv(engine.clockMillis.getAsLong(), DAY_MILLIS);
  }
}
