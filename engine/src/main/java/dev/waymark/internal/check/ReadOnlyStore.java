package dev.waymark.internal.check;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.ManifestEnd;
import dev.waymark.internal.manifest.Status;
import dev.waymark.internal.recover.Finding;
import dev.waymark.internal.recover.RecentDrops;
import java.util.List;
import java.util.Optional;

/**
 * A store as a reader met it: one state of its manifest, and the files beside it. Holds nothing
 * open.
 *
 * @param current what CURRENT says
 * @param status what the writer published last, if it is about this manifest
 * @param writing whether a writer was heard of not long ago
 * @param end how far the manifest was read
 * @param manifestAllocatedBytes of the manifest's file
 * @param forest the boundaries
 * @param nextSequence what the next record, touch or edit would get
 * @param drops what was dropped not long ago
 * @param segments the segments that the manifest names
 * @param small CURRENT, STATUS, LOCK
 * @param others files that the manifest does not name
 * @param findings what is wrong
 */
public record ReadOnlyStore(
    Current current,
    Optional<Status> status,
    boolean writing,
    ManifestEnd end,
    long manifestAllocatedBytes,
    Forest forest,
    long nextSequence,
    RecentDrops drops,
    List<SegmentAccount> segments,
    List<PlainFile> small,
    List<PlainFile> others,
    List<Finding> findings) {

  /** Of what the manifest's file occupies, what holds edits; the rest is allocated ahead. */
  public long manifestFramingBytes() {
    return Math.min(end.validLengthBytes(), manifestAllocatedBytes);
  }

  /**
   * Whether a file that the manifest does not name may be one that the writer has just made, or is
   * about to delete: a reader is a moment behind its edits.
   */
  public boolean mayBeTheWriters(PlainFile file) {
    return writing
        && (file.name().endsWith(".seg")
            || file.name().startsWith("manifest-")
            || file.name().equals(CurrentFile.TEMPORARY_NAME))
        && !file.name().startsWith("quarantine/");
  }

  /** A file that is no segment of the manifest's. */
  public record PlainFile(String name, long allocatedBytes) {}
}
