package dev.waymark.internal.log;

import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreFile;
import java.util.ArrayList;
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
