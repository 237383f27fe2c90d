package dev.waymark.error;

/** The operating system reported an error. */
public final class StoreIoException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public StoreIoException(ErrorDetail detail) {
    super(ErrorCode.IO_FAILURE, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public StoreIoException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.IO_FAILURE, detail, cause);
  }
}
