package dev.waymark.internal.log;

import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreFile;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.agrona.collections.LongArrayList;

/**
 * What is known of one segment. Everything here is guarded by the {@link SegmentSet} that owns it.
 *
 * <p>Invariants: its allocated bytes are framing + live + dead + reserved, where reserved is what
 * no record occupies; records occupy whole pages and never overlap; the padding of a live one is
 * framing; a sealed or poisoned segment takes no record.
 */
final class Segment {
  private static final BooleanSupplier UNREAD = () -> false;

  final long id;
  final SegmentSet.Stream stream;
  final SegmentKind kind;
  final long creationSequence;
  final String fileName;

  StoreFile file;
  MappedRegion region;
  int regionUsers;
  long lastUse;

  /** Where the next run starts: everything below was handed out. */
  long claimedEnd;

  /** Up to where the file is allocated. */
  long allocatedEnd;

  /** Bytes below {@link #allocatedEnd} that were punched out. */
  long punchedBytes;

  /** Handed out, and given back unused. */
  final Extents free = new Extents();

  int openRuns;
  boolean full;
  boolean sealed;
  boolean poisoned;

  /** Its file is deleted; the map goes with whoever still looks through it. */
  boolean removed;

  boolean dirty;

  /** Bytes of records whose writing has ended, and which no force covers yet. */
  long unforcedBytes;

  /** Whether an edit in the manifest (or in its queue) says that it exists. */
  boolean announced;

  /** Records that were written, and of which no edit has said yet whether they live. */
  int undecidedRecords;

  long footerOffsetBytes;
  long framingBytes;
  long liveRecords;
  long liveBytes;
  long deadBytes;

  /** No record that an edit named ends behind this. */
  long namedEnd;

  final List<DeadExtent> dead = new ArrayList<>();
  final List<SegmentSet.PlacedDescriptor> descriptors = new ArrayList<>();

  /** So many of them, the first, a force has covered. */
  int forcedDescriptors;

  final Set<Integer> namespaces = new HashSet<>();

  /** Offset and length of each record written by this process, for the footer. */
  final LongArrayList written = new LongArrayList();

  /**
   * Whole pages of a dead record; they may go once the edit {@code diedAt} is durable, and nobody
   * reads them who began before.
   */
  record DeadExtent(long start, long end, long diedAt, BooleanSupplier isRead) {
    boolean isFree(long durable) {
      return diedAt <= durable && !isRead.getAsBoolean();
    }
  }

  Segment(long id, SegmentSet.Stream stream, long creationSequence) {
    this.id = id;
    this.stream = stream;
    this.kind = stream.kind();
    this.creationSequence = creationSequence;
    this.fileName = kind.fileName(id);
  }

  /** Completes the account once all edits were applied: see {@link SegmentSet#settle}. */
  void settle(long lengthBytes, long footerOffset, List<long[]> gaps, boolean punched) {
    allocatedEnd = lengthBytes;
    claimedEnd = lengthBytes;
    footerOffsetBytes = footerOffset;
    if (footerOffset > 0) {
      framingBytes += lengthBytes - footerOffset;
    }
    // What edits or recovery dropped lies in the gaps, or behind the end of the file.
    dead.clear();
    deadBytes = 0;
    for (long[] gap : gaps) {
      if (punched) {
        punchedBytes += gap[1] - gap[0];
      } else {
        addDead(gap[0], gap[1], 0, UNREAD);
      }
    }
  }

  /** A record became live. */
  void born(RecordLocation location) {
    // Records that were read from a manifest were never written by this process.
    undecidedRecords = Math.max(0, undecidedRecords - 1);
    liveRecords++;
    liveBytes += location.lengthBytes();
    framingBytes += padding(location);
    namedEnd = Math.max(namedEnd, location.offsetBytes() + location.lengthBytes());
  }

  /** A live record died. */
  void died(RecordLocation location, long diedAt, BooleanSupplier isRead) {
    liveRecords--;
    liveBytes -= location.lengthBytes();
    framingBytes -= padding(location);
    addDead(location.offsetBytes(), end(location), diedAt, isRead);
  }

  /** A record of which it was not decided whether it lives does not. */
  void stillborn(RecordLocation location, long diedAt) {
    undecidedRecords--;
    addDead(location.offsetBytes(), end(location), diedAt, UNREAD);
  }

  /**
   * A dead record is undecided again.
   *
   * @return whether its bytes are still there
   */
  boolean revive(RecordLocation location) {
    boolean there =
        dead.removeIf(
            extent -> extent.start() == location.offsetBytes() && extent.end() == end(location));
    if (there) {
      deadBytes -= Alignment.toPage(location.lengthBytes());
      undecidedRecords++;
    }
    return there;
  }

  /** What was handed out and given back had never a name: it may go at once. */
  void freeIsDead() {
    for (Extents.Extent gap : free.list()) {
      addDead(gap.start(), gap.end(), 0, UNREAD);
    }
    free.clear();
  }

  /**
   * What no force covered may not be there after a crash, and so no manifest may name it.
   *
   * @return the descriptions that this one holds no more
   */
  List<SegmentSet.PlacedDescriptor> forgetUnforcedDescriptors() {
    List<SegmentSet.PlacedDescriptor> unforced =
        descriptors.subList(forcedDescriptors, descriptors.size());
    List<SegmentSet.PlacedDescriptor> forgotten = List.copyOf(unforced);
    for (SegmentSet.PlacedDescriptor descriptor : forgotten) {
      RecordLocation location = descriptor.location();
      framingBytes -= Alignment.toPage(location.lengthBytes());
      addDead(location.offsetBytes(), end(location), 0, UNREAD);
    }
    unforced.clear();
    return forgotten;
  }

  /** Dead extents that may go now, and that from here on nobody else knows of. */
  Extents takeDead(long durable) {
    Extents ready = new Extents();
    dead.removeIf(
        extent -> {
          boolean free = extent.isFree(durable);
          if (free) {
            ready.add(extent.start(), extent.end());
          }
          return free;
        });
    return ready;
  }

  /** Of what was taken, so much came back; the rest is dead as before. */
  void punched(long bytes, Collection<Extents.Extent> left) {
    for (Extents.Extent extent : left) {
      dead.add(new DeadExtent(extent.start(), extent.end(), 0, UNREAD));
    }
    deadBytes -= bytes;
    punchedBytes += bytes;
  }

  private void addDead(long start, long end, long diedAt, BooleanSupplier isRead) {
    deadBytes += end - start;
    dead.add(new DeadExtent(start, end, diedAt, isRead));
  }

  private static long end(RecordLocation location) {
    return location.offsetBytes() + Alignment.toPage(location.lengthBytes());
  }

  private static long padding(RecordLocation location) {
    return Alignment.toPage(location.lengthBytes()) - location.lengthBytes();
  }

  /** Whether a record in it lives, or may yet. */
  boolean isNeeded() {
    return liveRecords > 0 || undecidedRecords > 0;
  }

  /** Whether nothing is alive in it, its last death is durable, and nobody reads or writes it. */
  boolean isUnlinkable(long durable) {
    return (sealed || poisoned)
        && openRuns == 0
        && !isNeeded()
        && regionUsers == 0
        && announced
        && dead.stream().allMatch(extent -> extent.isFree(durable));
  }

  SegmentInfo info() {
    return new SegmentInfo(
        id,
        kind,
        creationSequence,
        fileName,
        sealed,
        poisoned,
        allocatedEnd,
        footerOffsetBytes,
        allocatedBytes(),
        liveRecords,
        liveBytes,
        deadBytes,
        framingBytes,
        reservedBytes());
  }

  long allocatedBytes() {
    return allocatedEnd - punchedBytes;
  }

  long reservedBytes() {
    return allocatedBytes() - framingBytes - liveBytes - deadBytes;
  }

  boolean isWritable() {
    return !full && !sealed && !poisoned;
  }
}
