package dev.waymark.internal.publish;

import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.Lease;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Run;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentSet;

/** Copies records from segment to segment, and only those that still match their checksums. */
public final class RecordCopier implements AutoCloseable {
  private final SegmentSet segments;

  /** Its own, since it runs while others may wait for its locks with a scratch in their hands. */
  private final Scratch.Pool scratches = new Scratch.Pool(1);

  /** A copier within these segments. */
  public RecordCopier(SegmentSet segments) {
    this.segments = segments;
  }

  /**
   * Copies a record.
   *
   * @return where the copy stands; not durable before the next force
   * @throws dev.waymark.error.CorruptionException if it is not what was written
   */
  public RecordLocation copy(RecordLocation from, NamespaceState namespace, Run run) {
    try (Lease lease = segments.lease(from.segmentId());
        Scratch scratch = scratches.take()) {
      RecordReader reader = new RecordReader(lease.region(), lease.fileName(), scratch);
      RecordHeader header = reader.header(from, namespace.layout());
      reader.verify(header);
      return segments.copy(lease.region(), header, run, namespace.descriptor(), scratch);
    }
  }

  /** Gives its buffers back; a copy that is under way ends first. */
  @Override
  public void close() {
    scratches.close();
  }
}
