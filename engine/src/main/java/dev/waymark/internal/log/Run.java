package dev.waymark.internal.log;

/**
 * Contiguous space in one segment that one session fills, so that a chain lies together without a
 * segment a session. Owned by the session's thread.
 */
public final class Run {
  final SegmentKind kind;
  Segment segment;
  long position;
  long end;

  /** A run without space; the first write claims some. */
  public Run(SegmentKind kind) {
    this.kind = kind;
  }

  long left() {
    return segment == null ? 0 : end - position;
  }
}
