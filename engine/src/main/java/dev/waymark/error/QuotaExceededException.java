package dev.waymark.error;

/** What was asked does not fit the quota, whatever was evicted. */
public final class QuotaExceededException extends QuotaException {
  private static final long serialVersionUID = 1L;

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
    super(ErrorCode.QUOTA_EXCEEDED, detail, predictedBytes, limitBytes, missingBytes, null);
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
    super(ErrorCode.QUOTA_EXCEEDED, detail, 0, 0, 0, cause);
  }
}
