package dev.waymark.internal.check;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.manifest.Current;
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
 * @param end how far the manifest was read
 * @param manifestAllocatedBytes of the manifest's file
 * @param forest the boundaries
 * @param drops what was dropped not long ago
 * @param segments the segments that the manifest names
 * @param small CURRENT, STATUS, LOCK
 * @param others files that the manifest does not name
 * @param findings what is wrong
 */
public record ReadOnlyStore(
    Current current,
    Optional<Status> status,
    ManifestEnd end,
    long manifestAllocatedBytes,
    Forest forest,
    RecentDrops drops,
    List<SegmentAccount> segments,
    List<PlainFile> small,
    List<PlainFile> others,
    List<Finding> findings) {

  /** Of what the manifest's file occupies, what holds edits; the rest is allocated ahead. */
  public long manifestFramingBytes() {
    return Math.min(end.validLengthBytes(), manifestAllocatedBytes);
  }

  /** A file that is no segment of the manifest's. */
  public record PlainFile(String name, long allocatedBytes) {}
}
