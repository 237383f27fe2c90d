package dev.waymark.layout;

/** What becomes of a prefill's boundaries when it is not completed. */
public enum AbortMode {
  /** They stay: each is a valid prefix. */
  KEEP(1),
  /** What no other session, pin or descendant uses is taken back. */
  DISCARD(2);

  private final int wireCode;

  AbortMode(int wireCode) {
    this.wireCode = wireCode;
  }

  /** {@return the number that stands for this mode on disk} */
  public int wireCode() {
    return wireCode;
  }

  /**
   * {@return the mode of a wire code, or null where there is none}
   *
   * @param wireCode the number on disk
   */
  public static AbortMode ofWireCode(int wireCode) {
    for (AbortMode mode : values()) {
      if (mode.wireCode == wireCode) {
        return mode;
      }
    }
    return null;
  }
}
