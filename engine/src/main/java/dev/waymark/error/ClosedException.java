package dev.waymark.error;

/** The object was closed, completed or aborted before this call. */
public final class ClosedException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public ClosedException(ErrorDetail detail) {
    super(ErrorCode.CLOSED, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public ClosedException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.CLOSED, detail, cause);
  }
}
