package dev.waymark.internal.log;

/**
 * Contiguous space in one segment that one session fills, so that a chain lies together without a
 * segment a session. Owned by the session's thread.
 */
public final class Run {
  final SegmentKind kind;
  final Heat heat;
  final SpaceGate.Payer payer;
  Segment segment;
  WriteBehind behind;
  long position;
  long end;

  /** Of the contribution that is being written. */
  long sequence;

  /**
   * What survived long enough to be copied is likely to live on: it does not stand beside what was
   * just written, which may die soon.
   */
  public enum Heat {
    /** Written for the first time. */
    NEW,
    /** Copied out of a segment that was given back. */
    SURVIVED
  }

  /** A run without space, for new records; the first write claims some. */
  public Run(SegmentKind kind) {
    this(kind, Heat.NEW, SpaceGate.ANYONE);
  }

  /**
   * A run without space; the first write claims some.
   *
   * @param payer asked for what the files grow by
   */
  public Run(SegmentKind kind, Heat heat, SpaceGate.Payer payer) {
    this.kind = kind;
    this.heat = heat;
    this.payer = payer;
  }

  long left() {
    return segment == null ? 0 : end - position;
  }
}
