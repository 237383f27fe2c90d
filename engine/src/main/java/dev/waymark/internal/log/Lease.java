package dev.waymark.internal.log;

import dev.waymark.internal.io.MappedRegion;

/** A segment that is mapped until it is closed. */
public final class Lease implements AutoCloseable {
  private final SegmentMaps maps;
  private final Segment segment;
  private boolean open = true;

  Lease(SegmentMaps maps, Segment segment) {
    this.maps = maps;
    this.segment = segment;
  }

  /** The mapped file. */
  public MappedRegion region() {
    return segment.region;
  }

  /** Its name. */
  public String fileName() {
    return segment.fileName;
  }

  /** Lets go of it. */
  @Override
  public void close() {
    synchronized (maps.lock()) {
      if (open) {
        open = false;
        maps.endLease(segment);
      }
    }
  }
}
