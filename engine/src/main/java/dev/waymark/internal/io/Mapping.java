package dev.waymark.internal.io;

/** How a directory makes the regions of its files. */
public enum Mapping {
  /**
   * Reads by maps, where the file system can map, and writes by positional writes: a write into a
   * map costs a fault a page.
   */
  MAPPED_READS,
  /** Reads and writes by maps, where the file system can map; else as below. */
  MAPPED,
  /** Reads and writes by positional calls, everywhere. */
  POSITIONAL
}
