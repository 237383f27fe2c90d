package dev.waymark.error;

/** Too many bytes are on their way to the disk. */
public final class BackPressureException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /** Makes the failure. */
  public BackPressureException(ErrorDetail detail) {
    super(ErrorCode.BACK_PRESSURE, detail);
  }

  /** Makes the failure with what caused it. */
  public BackPressureException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.BACK_PRESSURE, detail, cause);
  }
}
