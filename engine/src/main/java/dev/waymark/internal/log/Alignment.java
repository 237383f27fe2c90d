package dev.waymark.internal.log;

/**
 * Where things start in a segment.
 *
 * <pre>
 *   0        header frame, zeros to 4 KiB
 *   4096     records, each on 4 KiB; gaps between them are zeros or holes
 *   ...      footer frame on 4 KiB, zeros to 4 KiB: where the file ends, once it is sealed
 *
 *   a record:
 *   0        frame: header, message, directory of parts, table of chunks
 *   ...      parts, each on 64 bytes
 *   ...      zeros to 4 KiB
 * </pre>
 */
public final class Alignment {
  /** Records, and whatever can be punched out, start and end on this. */
  public static final int PAGE_BYTES = 4_096;

  /** Parts of a record start on this. */
  public static final int PART_BYTES = 64;

  private Alignment() {}

  /** Rounds up to a whole page. */
  public static long toPage(long bytes) {
    return (bytes + PAGE_BYTES - 1) & -PAGE_BYTES;
  }

  /** Rounds up to where a part may start. */
  public static long toPart(long bytes) {
    return (bytes + PART_BYTES - 1) & -PART_BYTES;
  }
}
