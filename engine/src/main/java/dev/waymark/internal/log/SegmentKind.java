package dev.waymark.internal.log;

/** Kept apart because rows live long and points die young: so space comes back cheaply. */
public enum SegmentKind {
  /** Holds rows. */
  APPEND(1, "append-"),
  /** Holds window deltas and fixed state. */
  DELTA(2, "delta-");

  private final int wireCode;
  private final String prefix;

  SegmentKind(int wireCode, String prefix) {
    this.wireCode = wireCode;
    this.prefix = prefix;
  }

  /** The number that stands for this kind on disk. */
  public int wireCode() {
    return wireCode;
  }

  /** The file of a segment. */
  public String fileName(long segmentId) {
    return prefix + segmentId + ".seg";
  }

  /** The kind of a wire code, or null where there is none. */
  public static SegmentKind ofWireCode(int wireCode) {
    for (SegmentKind kind : values()) {
      if (kind.wireCode == wireCode) {
        return kind;
      }
    }
    return null;
  }
}
