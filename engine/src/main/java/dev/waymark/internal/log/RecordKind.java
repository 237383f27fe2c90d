package dev.waymark.internal.log;

/** What a record holds. 0 is reserved: preallocated zeros must not read as a record. */
public enum RecordKind {
  /** Rows (sinks among them) that a boundary's own tokens added. */
  APPEND(1),
  /** Window rows that no ancestor stored. */
  DELTA(2),
  /** Fixed tensors. */
  STATE(3);

  private final int wireCode;

  RecordKind(int wireCode) {
    this.wireCode = wireCode;
  }

  /** The number that stands for this kind on disk. */
  public int wireCode() {
    return wireCode;
  }

  /** The kind of segment that holds such records. */
  public SegmentKind segmentKind() {
    return this == APPEND ? SegmentKind.APPEND : SegmentKind.DELTA;
  }

  /** The kind of a wire code, or null where there is none. */
  public static RecordKind ofWireCode(int wireCode) {
    for (RecordKind kind : values()) {
      if (kind.wireCode == wireCode) {
        return kind;
      }
    }
    return null;
  }
}
