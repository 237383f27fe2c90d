package dev.waymark.error;

/** A view's rows do not end at the boundary that the caller named. */
public final class BoundaryMismatchException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /** Makes the failure. */
  public BoundaryMismatchException(ErrorDetail detail) {
    super(ErrorCode.BOUNDARY_MISMATCH, detail);
  }

  /** Makes the failure with what caused it. */
  public BoundaryMismatchException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.BOUNDARY_MISMATCH, detail, cause);
  }
}
