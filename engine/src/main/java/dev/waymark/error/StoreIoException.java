package dev.waymark.error;

/** The operating system reported an error. */
public final class StoreIoException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /** Makes the failure. */
  public StoreIoException(ErrorDetail detail) {
    super(ErrorCode.IO_FAILURE, detail);
  }

  /** Makes the failure with what caused it. */
  public StoreIoException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.IO_FAILURE, detail, cause);
  }
}
