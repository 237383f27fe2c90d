package dev.waymark.error;

/** A prefill was not admitted, or was stopped when it could not end within a budget. */
public final class RejectedException extends WaymarkException {
  /** Of this class's form. */
  private static final long serialVersionUID = 1L;

  /** Which limit. */
  private final Rejection rejection;

  /** What it would take. */
  private final long predictedBytes;

  /** What it could have. */
  private final long limitBytes;

  /** What is missing of it. */
  private final long missingBytes;

  /** The longest prompt that would be admitted. */
  private final int longestTokens;

  /**
   * Makes the failure with its numbers.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param rejection which limit
   * @param predictedBytes what it would take; counting stops far beyond the quota
   * @param limitBytes what it could have
   * @param missingBytes what is missing of it
   * @param longestTokens the longest prompt, begun alike, that would be admitted now
   */
  public RejectedException(
      ErrorDetail detail,
      Rejection rejection,
      long predictedBytes,
      long limitBytes,
      long missingBytes,
      int longestTokens) {
    this(detail, rejection, predictedBytes, limitBytes, missingBytes, longestTokens, null);
  }

  /**
   * Makes the failure with its numbers and what caused it.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param rejection which limit
   * @param predictedBytes what it would take
   * @param limitBytes what it could have
   * @param missingBytes what is missing of it
   * @param longestTokens the longest prompt, begun alike, that would be admitted now
   * @param cause what caused it
   */
  public RejectedException(
      ErrorDetail detail,
      Rejection rejection,
      long predictedBytes,
      long limitBytes,
      long missingBytes,
      int longestTokens,
      Throwable cause) {
    super(ErrorCode.REJECTED, detail, cause);
    this.rejection = rejection;
    this.predictedBytes = predictedBytes;
    this.limitBytes = limitBytes;
    this.missingBytes = missingBytes;
    this.longestTokens = longestTokens;
  }

  /** {@return which limit} */
  public Rejection rejection() {
    return rejection;
  }

  /** {@return what it would take; counting stops far beyond the quota} */
  public long predictedBytes() {
    return predictedBytes;
  }

  /** {@return what it could have} */
  public long limitBytes() {
    return limitBytes;
  }

  /** {@return what is missing of it} */
  public long missingBytes() {
    return missingBytes;
  }

  /**
   * {@return the longest prompt, begun alike, that would be admitted now; 0 where there is none}
   */
  public int longestTokens() {
    return longestTokens;
  }

  /** {@return status that a server may answer with} */
  public int httpStatus() {
    return rejection.httpStatus();
  }
}
