package dev.waymark.error;

/** What a match had found is no longer there; match again. */
public final class StaleMatchException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public StaleMatchException(ErrorDetail detail) {
    super(ErrorCode.STALE_MATCH, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public StaleMatchException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.STALE_MATCH, detail, cause);
  }
}
