package dev.waymark.error;

/** The writer kept moving files while a reader looked: neither damage nor a result. Try again. */
public final class MovingException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public MovingException(ErrorDetail detail) {
    super(ErrorCode.MOVING, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public MovingException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.MOVING, detail, cause);
  }
}
