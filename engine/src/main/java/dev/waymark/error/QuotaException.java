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

  /** What would have been allocated. */
  public long predictedBytes() {
    return predictedBytes;
  }

  /** What may be allocated. */
  public long limitBytes() {
    return limitBytes;
  }

  /** What is missing. */
  public long missingBytes() {
    return missingBytes;
  }
}
