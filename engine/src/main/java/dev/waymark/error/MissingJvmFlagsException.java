package dev.waymark.error;

/** The JVM lacks flags that the store needs; the message holds the line to paste. */
public final class MissingJvmFlagsException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public MissingJvmFlagsException(ErrorDetail detail) {
    super(ErrorCode.MISSING_JVM_FLAGS, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public MissingJvmFlagsException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.MISSING_JVM_FLAGS, detail, cause);
  }
}
