package dev.waymark.error;

/**
 * Every failure that the store reports. Unchecked, since most callers answer all of them alike: by
 * computing the prompt anew.
 */
public class WaymarkException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What went wrong. */
  private final ErrorCode code;

  private final transient ErrorDetail detail;

  /**
   * Makes a failure without a cause.
   *
   * @param code the stable name of the kind of failure
   * @param detail what failed, where, what was expected and found, and what to do
   */
  public WaymarkException(ErrorCode code, ErrorDetail detail) {
    this(code, detail, null);
  }

  /**
   * Makes a failure that another one caused.
   *
   * @param code the stable name of the kind of failure
   * @param detail what failed, where, what was expected and found, and what to do
   * @param cause what caused it
   */
  public WaymarkException(ErrorCode code, ErrorDetail detail, Throwable cause) {
    super(code + ": " + detail.sentence(), cause);
    this.code = code;
    this.detail = detail;
  }

  /** {@return the stable name of this kind of failure} */
  public final ErrorCode code() {
    return code;
  }

  /** {@return what, where, expected, found and what to do} */
  public final ErrorDetail detail() {
    return detail == null ? ErrorDetail.of(getMessage()) : detail;
  }
}
