package dev.waymark.internal.manifest;

/** Why rows or a point were dropped. */
public enum DropReason {
  /** Made room. */
  EVICTED(1),
  /** Superseded by newer points of its chain. */
  THINNED(2),
  /** Its session was aborted and took it back. */
  DISCARDED(3),
  /** Its bytes, or those of an ancestor, are damaged. */
  DAMAGED(4),
  /** Someone deleted it: a namespace, a chain, an age. */
  WIPED(5),
  /** It could not be proven durable after a device error. */
  UNPROVEN(6);

  private final int wireCode;

  DropReason(int wireCode) {
    this.wireCode = wireCode;
  }

  /** The number that stands for this reason on disk. */
  public int wireCode() {
    return wireCode;
  }

  /** The reason of a wire code, or null where there is none. */
  public static DropReason ofWireCode(int wireCode) {
    for (DropReason reason : values()) {
      if (reason.wireCode == wireCode) {
        return reason;
      }
    }
    return null;
  }
}
