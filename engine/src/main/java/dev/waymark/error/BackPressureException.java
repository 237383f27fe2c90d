package dev.waymark.error;

/** Too many bytes are on their way to the disk. */
public final class BackPressureException extends WaymarkException {
  /** Of this class's form. */
  private static final long serialVersionUID = 1L;

  /** What was to be appended. */
  private final long askedBytes;

  /**
   * Makes the failure.
   *
   * @param askedBytes what was to be appended
   */
  public BackPressureException(ErrorDetail detail, long askedBytes) {
    super(ErrorCode.BACK_PRESSURE, detail);
    this.askedBytes = askedBytes;
  }

  /** Bytes of records that were to be appended. */
  public long askedBytes() {
    return askedBytes;
  }
}
