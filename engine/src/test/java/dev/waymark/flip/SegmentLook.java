package dev.waymark.flip;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.fuzz.MemoryDirectory;
import dev.waymark.internal.check.ReadOnlyStore;
import dev.waymark.internal.check.SegmentAccount;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentFooter;
import dev.waymark.internal.log.SegmentHeader;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.layout.Layout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * All that the engine reads of one segment, by the calls with which it reads: header, descriptions,
 * fronts, chunks and footer. The bytes may be changed between looks; the manifest is the sound one.
 */
final class SegmentLook {
  private static final int PAGE_BYTES = 4096;

  private final SegmentAccount segment;
  private final byte[] file;
  private final SegmentHeader header;
  private final List<NamespaceDescriptor> descriptors = new ArrayList<>();
  private final List<Named> records = new ArrayList<>();
  private final RecordReader reader;

  /** A record, and the layout to read it with. */
  private record Named(RecordLocation location, Layout layout) {}

  SegmentLook(ReadOnlyStore store, SegmentAccount segment, byte[] file) {
    this.segment = segment;
    this.file = file;
    Forest forest = store.forest();
    forest.forEachBoundary(
        node -> {
          for (RecordKind kind : RecordKind.values()) {
            for (RecordLocation record : forest.records(node, kind)) {
              if (record.segmentId() == segment.info().segmentId()) {
                records.add(new Named(record, forest.namespaceOf(node).layout()));
              }
            }
          }
        });
    StoreFile opened =
        new MemoryDirectory(Map.of(segment.info().fileName(), file))
            .openReadOnly(segment.info().fileName());
    MappedRegion region = opened.map(file.length, false);
    reader = new RecordReader(region, opened.name(), new Scratch.Pool(1).take());
    header = header();
    for (SegmentSet.PlacedDescriptor placed : segment.descriptors()) {
      descriptors.add(descriptor(placed));
    }
  }

  /** Whether any of it is not what it was when this look was made. */
  boolean findsAny() {
    try {
      if (!header.equals(header())) {
        return true;
      }
      for (int i = 0; i < descriptors.size(); i++) {
        if (!descriptors.get(i).equals(descriptor(segment.descriptors().get(i)))) {
          return true;
        }
      }
      for (Named record : records) {
        reader.verifyChecksums(reader.header(record.location(), record.layout()));
      }
      long footer = segment.sealed().footerOffsetBytes();
      SegmentFooter.check(
          frame(footer, file.length - footer), segment.info().segmentId(), footer, "footer");
      return false;
    } catch (CorruptionException | UnsupportedFormatException e) {
      return true;
    }
  }

  private SegmentHeader header() {
    SegmentHeader found = SegmentHeader.parse(new UnsafeBuffer(file, 0, PAGE_BYTES), "header");
    if (found == null) {
      throw new CorruptionException(ErrorDetail.of("no header"));
    }
    return found;
  }

  private NamespaceDescriptor descriptor(SegmentSet.PlacedDescriptor placed) {
    UnsafeBuffer frame = frame(placed.location().offsetBytes(), placed.location().lengthBytes());
    return NamespaceDescriptor.parse(
        frame, frame.capacity(), segment.info().segmentId(), "description", 0);
  }

  private UnsafeBuffer frame(long offset, long most) {
    UnsafeBuffer bytes = new UnsafeBuffer(file, (int) offset, (int) most);
    int tag = Frame.tagOf(segment.info().segmentId());
    Frame.Check check = Frame.check(bytes, 0, (int) most, tag, (int) most);
    if (!check.isValid()) {
      throw new CorruptionException(ErrorDetail.of(check.reason()));
    }
    return new UnsafeBuffer(bytes, 0, check.lengthBytes());
  }
}
