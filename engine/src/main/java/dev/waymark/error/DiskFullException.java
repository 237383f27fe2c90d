package dev.waymark.error;

/** The file system refused space. Reads go on working; appends resume once space is freed. */
public final class DiskFullException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public DiskFullException(ErrorDetail detail) {
    super(ErrorCode.DISK_FULL, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public DiskFullException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.DISK_FULL, detail, cause);
  }
}
