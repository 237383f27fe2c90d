package dev.waymark.internal.io;

/** How a directory makes the regions of its files. */
public enum Mapping {
  /** By maps, where the file system can map; else by positional reads and writes. */
  MAPPED,
  /** By positional reads and writes, everywhere. */
  POSITIONAL
}
