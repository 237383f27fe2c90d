package dev.waymark.error;

/** A layout or a setting contradicts itself or is out of range. */
public final class InvalidSettingException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public InvalidSettingException(ErrorDetail detail) {
    super(ErrorCode.INVALID_SETTING, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public InvalidSettingException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.INVALID_SETTING, detail, cause);
  }
}
