package dev.waymark.error;

/** A view's rows do not end at the boundary that the caller named. */
public final class BoundaryMismatchException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public BoundaryMismatchException(ErrorDetail detail) {
    super(ErrorCode.BOUNDARY_MISMATCH, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public BoundaryMismatchException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.BOUNDARY_MISMATCH, detail, cause);
  }
}
