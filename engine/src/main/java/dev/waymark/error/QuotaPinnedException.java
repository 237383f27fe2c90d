package dev.waymark.error;

/** Pinned or kept bytes fill the quota. */
public final class QuotaPinnedException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /** Makes the failure. */
  public QuotaPinnedException(ErrorDetail detail) {
    super(ErrorCode.QUOTA_PINNED, detail);
  }

  /** Makes the failure with what caused it. */
  public QuotaPinnedException(ErrorDetail detail, Throwable cause) {
    super(ErrorCode.QUOTA_PINNED, detail, cause);
  }
}
