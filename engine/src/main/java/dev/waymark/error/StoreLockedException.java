package dev.waymark.error;

/** Another writer has the store open. */
public final class StoreLockedException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public StoreLockedException(ErrorDetail detail) {
    super(ErrorCode.STORE_LOCKED, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public StoreLockedException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.STORE_LOCKED, detail, cause);
  }
}
