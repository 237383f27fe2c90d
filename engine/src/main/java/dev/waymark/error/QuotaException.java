package dev.waymark.error;

/**
 * What was asked for does not fit a quota, with the numbers; those that say how much is missing are
 * 0 where that is not known.
 */
public abstract sealed class QuotaException extends WaymarkException
    permits QuotaExceededException, QuotaPinnedException {
  private static final long serialVersionUID = 1L;

  /** Bytes that were asked for. */
  private final long predictedBytes;

  /** The limit that they would have broken. */
  private final long limitBytes;

  /** By how much. */
  private final long missingBytes;

  QuotaException(
      ErrorCode code,
      ErrorDetail detail,
      long predictedBytes,
      long limitBytes,
      long missingBytes,
      Throwable cause) {
    super(code, detail, cause);
    this.predictedBytes = predictedBytes;
    this.limitBytes = limitBytes;
    this.missingBytes = missingBytes;
  }

  /** {@return bytes that would have been allocated; 0 where that is not known} */
  public long predictedBytes() {
    return predictedBytes;
  }

  /** {@return bytes that may be allocated; 0 where that is not known} */
  public long limitBytes() {
    return limitBytes;
  }

  /** {@return bytes that are missing; 0 where that is not known} */
  public long missingBytes() {
    return missingBytes;
  }
}
