package dev.waymark.internal.log;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.UnsupportedFormatException;

/**
 * The versions of the format that this code knows, and the pair that a file carries: the least
 * version of a reader, and of a writer, that may open it.
 *
 * @param readVersion a reader of a lower version must refuse the file
 * @param writeVersion a writer of a lower version must leave the store as it is
 */
public record FormatVersions(int readVersion, int writeVersion) {
  /** The version that this code reads. */
  public static final int READ = 1;

  /** The version that this code writes. */
  public static final int WRITE = 1;

  /** What this code puts into the files that it makes. */
  public static final FormatVersions OWN = new FormatVersions(READ, WRITE);

  /** Whether the store may be read but not written. */
  public boolean isReadOnly() {
    return writeVersion > WRITE;
  }

  /** Versions are counted from 1: a pair with a 0 was written by no version. */
  public boolean isPossible() {
    return readVersion >= 1 && writeVersion >= 1;
  }

  /**
   * Refuses what this code cannot read.
   *
   * @throws UnsupportedFormatException if the file asks for a newer reader
   */
  public void requireReadable(String fileName) {
    if (readVersion > READ) {
      throw new UnsupportedFormatException(
          ErrorDetail.of("the file was written by a newer version of the store")
              .in(fileName)
              .expected("format version " + READ + " or lower")
              .found(readVersion)
              .remedy("open it with a newer version"));
    }
  }
}
