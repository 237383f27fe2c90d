package dev.waymark.error;

/** What was asked does not fit the quota, whatever was evicted. */
public final class QuotaExceededException extends WaymarkException {
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
  public QuotaExceededException(
      ErrorDetail detail, long predictedBytes, long limitBytes, long missingBytes) {
    super(ErrorCode.QUOTA_EXCEEDED, detail);
    this.predictedBytes = predictedBytes;
    this.limitBytes = limitBytes;
    this.missingBytes = missingBytes;
  }

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public QuotaExceededException(ErrorDetail detail) {
    this(detail, 0, 0, 0);
  }

  /**
   * Makes the failure with what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public QuotaExceededException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.QUOTA_EXCEEDED, detail, cause);
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
