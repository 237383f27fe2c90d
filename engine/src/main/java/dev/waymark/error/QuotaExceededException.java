package dev.waymark.error;

/** What was asked does not fit the quota, whatever was evicted. */
public final class QuotaExceededException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /** Makes the failure. */
  public QuotaExceededException(ErrorDetail detail) {
    super(ErrorCode.QUOTA_EXCEEDED, detail);
  }

  /** Makes the failure with what caused it. */
  public QuotaExceededException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.QUOTA_EXCEEDED, detail, cause);
  }
}
