package dev.waymark.explore;

/** A promise that was not kept. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What kind of promise. */
  enum Kind {
    /** Acknowledged as durable, and gone. */
    LOST,
    /** There, and not what it has to be; or there, and never stored. */
    WRONG,
    /** The bytes do not add up. */
    ACCOUNT,
    /** The store cannot be used any more, or fails in a way that no caller can handle. */
    UNUSABLE
  }

  final Kind kind;

  Violation(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  Violation(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }
}
