package dev.waymark.error;

/** A view's shape, stride or length does not fit its tensor. */
public final class ViewMismatchException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public ViewMismatchException(ErrorDetail detail) {
    super(ErrorCode.VIEW_MISMATCH, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public ViewMismatchException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.VIEW_MISMATCH, detail, cause);
  }
}
