package dev.waymark.error;

/** A session was used by a second thread while a call was under way. */
public final class ConcurrentUseException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public ConcurrentUseException(ErrorDetail detail) {
    super(ErrorCode.CONCURRENT_USE, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public ConcurrentUseException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.CONCURRENT_USE, detail, cause);
  }
}
