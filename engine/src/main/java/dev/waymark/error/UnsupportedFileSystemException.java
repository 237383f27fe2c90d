package dev.waymark.error;

/** The file system lacks a call that the store cannot do without. */
public final class UnsupportedFileSystemException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public UnsupportedFileSystemException(ErrorDetail detail) {
    super(ErrorCode.UNSUPPORTED_FILE_SYSTEM, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public UnsupportedFileSystemException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.UNSUPPORTED_FILE_SYSTEM, detail, cause);
  }
}
