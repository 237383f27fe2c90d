package dev.waymark.faults;

/** A restore returned other bytes than were appended, and said that they were right. */
final class WrongBytesError extends AssertionError {
  private static final long serialVersionUID = 1L;

  WrongBytesError(String what) {
    super("wrong bytes: " + what);
  }
}
