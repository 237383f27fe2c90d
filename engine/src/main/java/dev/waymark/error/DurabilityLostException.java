package dev.waymark.error;

/** Work that had not yet been forced was lost to a device error. */
public final class DurabilityLostException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public DurabilityLostException(ErrorDetail detail) {
    super(ErrorCode.DURABILITY_LOST, detail);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public DurabilityLostException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.DURABILITY_LOST, detail, cause);
  }
}
