package dev.waymark.internal.log;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreDirectory;
import java.util.Collection;
import java.util.Comparator;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The maps of a store's segments. Guarded by its lock, the monitor of the {@link SegmentSet} that
 * owns it.
 *
 * <p>Invariants: a map is undone only when nobody reads or writes through it, whatever is closed
 * meanwhile: touching one that is gone would end the JVM. Of the maps through which nobody looks,
 * only so many stay.
 */
final class SegmentMaps {
  /** Mappings that stay when nobody reads through them. */
  private static final int IDLE_MAPPINGS = 32;

  private final Object lock;
  private final StoreDirectory directory;
  private final long storeIdHigh;
  private final long storeIdLow;
  private final Collection<Segment> segments;
  private long useClock;
  private int mapped;
  private boolean closed;

  /** Maps of these, a view of what there is at any time. */
  SegmentMaps(
      Object lock,
      StoreDirectory directory,
      long storeIdHigh,
      long storeIdLow,
      Collection<Segment> segments) {
    this.lock = lock;
    this.directory = directory;
    this.storeIdHigh = storeIdHigh;
    this.storeIdLow = storeIdLow;
    this.segments = segments;
  }

  Object lock() {
    return lock;
  }

  /** Files mapped now. */
  int count() {
    return mapped;
  }

  /** Maps a new segment, of which so much may ever be written. */
  void mapForWriting(Segment segment, long mostBytes) {
    segment.region = segment.file.map(mostBytes, true);
    mapped++;
  }

  /** Somebody writes through the map from here on. */
  void beginUse(Segment segment) {
    segment.regionUsers++;
  }

  void endUse(Segment segment) {
    segment.regionUsers--;
    unmapIfUnwanted(segment);
  }

  /**
   * Maps a segment for reading.
   *
   * @throws CorruptionException if its file is missing or shorter than the manifest says
   */
  Lease lease(Segment segment) {
    if (segment.region == null) {
      segment.region = mapForReading(segment);
      mapped++;
    }
    beginUse(segment);
    segment.lastUse = ++useClock;
    unmapIdle();
    return new Lease(this, segment);
  }

  void endLease(Segment segment) {
    segment.lastUse = ++useClock;
    endUse(segment);
    unmapIdle();
  }

  /** From here on a map goes with its last user. */
  void close() {
    closed = true;
  }

  /** Undoes a map that nobody needs, where that is so. */
  void unmapIfUnwanted(Segment segment) {
    if ((closed || segment.removed) && segment.regionUsers == 0) {
      unmap(segment);
    }
  }

  void unmap(Segment segment) {
    if (segment.region != null) {
      segment.region.close();
      segment.region = null;
      mapped--;
    }
  }

  private MappedRegion mapForReading(Segment segment) {
    if (!directory.exists(segment.fileName)) {
      throw new CorruptionException(
          ErrorDetail.of("a segment is missing").in(segment.fileName).found("no such file"));
    }
    try (var file = directory.openReadOnly(segment.fileName)) {
      long length = file.lengthBytes();
      if (length < segment.allocatedEnd) {
        throw new CorruptionException(
            ErrorDetail.of("a segment is shorter than it was")
                .in(segment.fileName)
                .expected(segment.allocatedEnd + " bytes")
                .found(length + " bytes"));
      }
      MappedRegion region = file.map(segment.allocatedEnd, false);
      try {
        checkHeader(segment, region);
        return region;
      } catch (WaymarkException e) {
        region.close();
        throw e;
      }
    }
  }

  private void checkHeader(Segment segment, MappedRegion region) {
    UnsafeBuffer page = new UnsafeBuffer(new byte[Alignment.PAGE_BYTES]);
    region.get(0, page, 0, page.capacity());
    SegmentHeader header = SegmentHeader.parse(page, segment.fileName);
    if (header == null
        || header.segmentId() != segment.id
        || header.kind() != segment.kind
        || header.creationSequence() != segment.creationSequence
        || !header.isOf(storeIdHigh, storeIdLow)) {
      throw new CorruptionException(
          ErrorDetail.of("a file is not the segment that it should be")
              .at(segment.fileName, 0)
              .expected("the header of segment " + segment.id)
              .found(header == null ? "no valid header" : found(header)));
    }
  }

  private String found(SegmentHeader header) {
    return header.isOf(storeIdHigh, storeIdLow)
        ? "that of segment " + header.segmentId()
        : "a segment of another store";
  }

  private void unmapIdle() {
    while (mapped > IDLE_MAPPINGS) {
      Segment oldest =
          segments.stream()
              .filter(s -> s.region != null && s.regionUsers == 0 && s.sealed && s.file == null)
              .min(Comparator.comparingLong(s -> s.lastUse))
              .orElse(null);
      if (oldest == null) {
        return;
      }
      unmap(oldest);
    }
  }
}
