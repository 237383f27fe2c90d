package dev.waymark.flip;

import dev.waymark.internal.check.ReadOnlyStore;
import dev.waymark.internal.check.SegmentAccount;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.wire.RecordDecoder;
import java.util.BitSet;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Which bytes of a segment the format says are read: "Padding and gaps in segments (between the
 * front of a record and its parts, between parts, up to 4 KiB, between records) are not read, and
 * may hold anything", and so all others are. Taken from what the manifest names and from the
 * schema's fields, not from what the engine does with them.
 */
final class ReadRanges {
  /** The sentence of the format's page that this is about. */
  static final String RULE =
      "Padding and gaps in segments (between the front of a record and its parts, between parts, "
          + "up to 4 KiB, between records) are not read, and may hold anything.";

  private final UnsafeBuffer file;
  private final BitSet read = new BitSet();

  private ReadRanges(byte[] file) {
    this.file = new UnsafeBuffer(file);
  }

  /** The bytes of a segment that are read. */
  static BitSet of(ReadOnlyStore store, SegmentAccount segment, byte[] file) {
    ReadRanges ranges = new ReadRanges(file);
    ranges.frame(0);
    segment.descriptors().forEach(placed -> ranges.frame(placed.location().offsetBytes()));
    if (segment.sealed() != null && segment.sealed().footerOffsetBytes() > 0) {
      ranges.frame(segment.sealed().footerOffsetBytes());
    }
    Forest forest = store.forest();
    forest.forEachBoundary(
        node -> {
          for (RecordKind kind : RecordKind.values()) {
            for (RecordLocation record : forest.records(node, kind)) {
              if (record.segmentId() == segment.info().segmentId()) {
                ranges.record(record.offsetBytes());
              }
            }
          }
        });
    return ranges.read;
  }

  private int frame(long at) {
    int length = Frame.lengthBytes(file, (int) at);
    read.set((int) at, (int) at + length);
    return length;
  }

  private void record(long at) {
    frame(at);
    RecordDecoder.PartsDecoder parts =
        new RecordDecoder()
            .wrap(
                file,
                (int) at + Frame.HEADER_BYTES,
                RecordDecoder.BLOCK_LENGTH,
                RecordDecoder.SCHEMA_VERSION)
            .parts();
    while (parts.hasNext()) {
      parts.next();
      long from = at + parts.offsetBytes();
      read.set((int) from, (int) (from + parts.storedLengthBytes()));
    }
  }
}
