package dev.waymark.error;

/** The directory is missing or holds no store. */
public final class NotAStoreException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public NotAStoreException(ErrorDetail detail) {
    super(ErrorCode.NOT_A_STORE, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public NotAStoreException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.NOT_A_STORE, detail, cause);
  }
}
