package dev.waymark.error;

/** Pinned or kept bytes fill the quota. */
public final class QuotaPinnedException extends QuotaException {
  private static final long serialVersionUID = 1L;

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
    super(ErrorCode.QUOTA_PINNED, detail, predictedBytes, limitBytes, missingBytes, null);
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
    super(ErrorCode.QUOTA_PINNED, detail, 0, 0, 0, cause);
  }
}
