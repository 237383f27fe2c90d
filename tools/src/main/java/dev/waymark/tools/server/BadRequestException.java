package dev.waymark.tools.server;

/**
 * A request that the server cannot answer as it is; the message says why, and holds nothing of it.
 */
final class BadRequestException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;

  /**
   * A refusal.
   *
   * @param status of HTTP, 400 to 499
   * @param code a stable name
   */
  BadRequestException(int status, String code, String message) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
  }

  int status() {
    return status;
  }

  String code() {
    return code;
  }
}
