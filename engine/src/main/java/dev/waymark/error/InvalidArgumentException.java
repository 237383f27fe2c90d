package dev.waymark.error;

/** An argument is out of range. */
public final class InvalidArgumentException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public InvalidArgumentException(ErrorDetail detail) {
    super(ErrorCode.INVALID_ARGUMENT, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public InvalidArgumentException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.INVALID_ARGUMENT, detail, cause);
  }
}
