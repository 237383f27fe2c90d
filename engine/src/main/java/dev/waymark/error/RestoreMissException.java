package dev.waymark.error;

/**
 * A restore could not return what was stored. Nothing that was read through it may be used. The
 * next shallower restore point of the chain is named, so that the caller can try there at once.
 */
public final class RestoreMissException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  /** Tokens of the next shallower restore point, or 0. */
  private final int nextShallowerTokens;

  /**
   * Makes the failure.
   *
   * @param detail what failed, where, what was expected and found, and what to do
   * @param nextShallowerTokens tokens of the next shallower restore point, 0 where there is none
   * @param cause what caused it
   */
  public RestoreMissException(ErrorDetail detail, int nextShallowerTokens, Throwable cause) {
    super(ErrorCode.RESTORE_MISS, detail, cause);
    this.nextShallowerTokens = nextShallowerTokens;
  }

  /**
   * {@return tokens of the next shallower restore point of the same chain, 0 where there is none}
   */
  public int nextShallowerTokens() {
    return nextShallowerTokens;
  }
}
