package dev.waymark.error;

/** The day's write budget is used up, or would be by what is asked for. */
public final class WriteBudgetExhaustedException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public WriteBudgetExhaustedException(ErrorDetail detail) {
    super(ErrorCode.WRITE_BUDGET_EXHAUSTED, detail);
  }
}
