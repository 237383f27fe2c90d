package dev.waymark.error;

/** Bytes on disk are not what was written. */
public final class CorruptionException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public CorruptionException(ErrorDetail detail) {
    super(ErrorCode.CORRUPTION, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public CorruptionException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.CORRUPTION, detail, cause);
  }
}
