package dev.waymark.internal.forest;

/** Shown where records stand, one by one and without an object for each: there may be millions. */
public interface RecordVisitor {
  /** One record. */
  void visit(long segmentId, long offsetBytes, long lengthBytes);
}
