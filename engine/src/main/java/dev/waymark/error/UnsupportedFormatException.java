package dev.waymark.error;

/** The store's format is newer than this version can read or write. */
public final class UnsupportedFormatException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public UnsupportedFormatException(ErrorDetail detail) {
    super(ErrorCode.UNSUPPORTED_FORMAT, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public UnsupportedFormatException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.UNSUPPORTED_FORMAT, detail, cause);
  }
}
