package dev.waymark.internal.manifest;

/** How a session ended. */
public enum SessionOutcome {
  /** Its prompt was complete. */
  COMPLETED(1),
  /** Aborted; its boundaries stay. */
  KEPT(2),
  /** Aborted; what only it used went. */
  DISCARDED(3);

  private final int wireCode;

  SessionOutcome(int wireCode) {
    this.wireCode = wireCode;
  }

  /** The number that stands for this outcome on disk. */
  public int wireCode() {
    return wireCode;
  }

  /** The outcome of a wire code, or null where there is none. */
  public static SessionOutcome ofWireCode(int wireCode) {
    for (SessionOutcome outcome : values()) {
      if (outcome.wireCode == wireCode) {
        return outcome;
      }
    }
    return null;
  }
}
