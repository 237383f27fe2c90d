package dev.waymark.error;

/** An argument is out of range. */
public final class InvalidArgumentException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /** Makes the failure. */
  public InvalidArgumentException(ErrorDetail detail) {
    super(ErrorCode.INVALID_ARGUMENT, detail);
  }

  /** Makes the failure with what caused it. */
  public InvalidArgumentException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.INVALID_ARGUMENT, detail, cause);
  }
}
