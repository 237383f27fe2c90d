package dev.waymark.error;

/** Too many bytes are on their way to the disk. */
public final class BackPressureException extends WaymarkException {
  /** Of this class's form. */
  private static final long serialVersionUID = 1L;

  /** Most that the records of the append take. */
  private final long askedBytes;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param askedBytes most that the records of the append take
   */
  public BackPressureException(ErrorDetail detail, long askedBytes) {
    super(ErrorCode.BACK_PRESSURE, detail);
    this.askedBytes = askedBytes;
  }

  /** {@return the most bytes that the records of the refused append take} */
  public long askedBytes() {
    return askedBytes;
  }
}
