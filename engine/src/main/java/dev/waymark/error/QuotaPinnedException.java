package dev.waymark.error;

/** Pinned or kept bytes fill the quota. */
public final class QuotaPinnedException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /** Bytes that were asked for. */
  private final long predictedBytes;

  /** The limit that they would have broken. */
  private final long limitBytes;

  /** By how much. */
  private final long missingBytes;

  /**
   * Makes the failure with its numbers.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param predictedBytes what would have been allocated
   * @param limitBytes what may be allocated
   * @param missingBytes what is missing of it
   */
  public QuotaPinnedException(
      ErrorDetail detail, long predictedBytes, long limitBytes, long missingBytes) {
    super(ErrorCode.QUOTA_PINNED, detail);
    this.predictedBytes = predictedBytes;
    this.limitBytes = limitBytes;
    this.missingBytes = missingBytes;
  }

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public QuotaPinnedException(ErrorDetail detail) {
    this(detail, 0, 0, 0);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public QuotaPinnedException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.QUOTA_PINNED, detail, cause);
    this.predictedBytes = 0;
    this.limitBytes = 0;
    this.missingBytes = 0;
  }

  /** {@return what would have been allocated; 0 where that is not known} */
  public long predictedBytes() {
    return predictedBytes;
  }

  /** {@return what may be allocated; 0 where that is not known} */
  public long limitBytes() {
    return limitBytes;
  }

  /** {@return what is missing; 0 where that is not known} */
  public long missingBytes() {
    return missingBytes;
  }
}
