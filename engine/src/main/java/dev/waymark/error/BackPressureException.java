package dev.waymark.error;

/** Too many bytes are on their way to the disk. */
public final class BackPressureException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public BackPressureException(ErrorDetail detail) {
    super(ErrorCode.BACK_PRESSURE, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public BackPressureException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.BACK_PRESSURE, detail, cause);
  }
}
