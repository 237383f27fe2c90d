package dev.waymark.internal.recover;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentHeader;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.internal.wire.NamespaceRecordDecoder;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.internal.wire.SegmentFooterDecoder;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Everything that a segment file says about itself, found page by page. Only for a store whose
 * manifest is lost: whatever else reads a store, reads what the manifest names.
 */
final class SegmentScan {
  private static final int MAX_FRAME_BYTES = 64 << 20;

  private final String fileName;
  private final List<Finding> findings;
  private final List<RecordLocation> records = new ArrayList<>();
  private final List<Placed> descriptors = new ArrayList<>();
  private StoreId storeId;
  private SegmentKind kind;
  private long segmentId;
  private long creationSequence;
  private long lengthBytes;
  private long footerOffsetBytes;

  /** A description of a namespace, and where it stands. */
  record Placed(NamespaceDescriptor descriptor, RecordLocation location) {}

  private SegmentScan(String fileName, List<Finding> findings) {
    this.fileName = fileName;
    this.findings = findings;
  }

  /** Reads a file; null where its header says nothing that can be used. */
  static SegmentScan of(StoreDirectory directory, String fileName, List<Finding> findings) {
    SegmentScan scan = new SegmentScan(fileName, findings);
    try (StoreFile file = directory.openReadOnly(fileName)) {
      scan.lengthBytes = file.lengthBytes() & -Alignment.PAGE_BYTES;
      return scan.header(file) && scan.pages(file) ? scan : null;
    } catch (WaymarkException e) {
      scan.find(Finding.Severity.ERROR, "SEGMENT_UNREADABLE", -1, e.detail().sentence());
      return null;
    }
  }

  private boolean header(StoreFile file) {
    if (lengthBytes < SegmentHeader.MAX_FRAME_BYTES) {
      find(
          Finding.Severity.ERROR,
          "SEGMENT_HEADER_DAMAGED",
          0,
          "the segment is too short for a header; its records are not looked for");
      return false;
    }
    UnsafeBuffer page = new UnsafeBuffer(new byte[SegmentHeader.MAX_FRAME_BYTES]);
    file.read(0, page, 0, page.capacity());
    try {
      SegmentHeader header = SegmentHeader.decode(page, Frame.fileTag(page, 0), fileName);
      segmentId = header.segmentId();
      creationSequence = header.creationSequence();
      kind = header.kind();
      storeId = new StoreId(header.storeIdHigh(), header.storeIdLow());
      if (kind.fileName(segmentId).equals(fileName)
          && Frame.fileTag(page, 0) == Frame.tagOf(segmentId)) {
        return true;
      }
    } catch (CorruptionException e) {
      kind = null;
    }
    find(
        Finding.Severity.ERROR,
        "SEGMENT_HEADER_DAMAGED",
        0,
        "the segment's header cannot be used; its records are not looked for");
    return false;
  }

  private boolean pages(StoreFile file) {
    UnsafeBuffer page = new UnsafeBuffer(new byte[Alignment.PAGE_BYTES]);
    long at = Alignment.PAGE_BYTES;
    while (at < lengthBytes) {
      file.read(at, page, 0, page.capacity());
      long next = at + Alignment.PAGE_BYTES;
      UnsafeBuffer frame = frame(file, page, at);
      if (frame != null) {
        next = at + Math.max(Alignment.PAGE_BYTES, take(frame, at));
      }
      at = next;
    }
    return true;
  }

  /** The valid frame that starts at a page, or null. */
  private UnsafeBuffer frame(StoreFile file, UnsafeBuffer page, long at) {
    int available = page.capacity();
    int tag = Frame.tagOf(segmentId);
    int most = (int) Math.min(MAX_FRAME_BYTES, lengthBytes - at);
    Frame.Check check = Frame.check(page, 0, available, tag, most);
    UnsafeBuffer buffer = page;
    if (check.status() == Frame.Status.TORN) {
      int length = check.lengthBytes();
      if (length <= available || length > most) {
        return null;
      }
      buffer = new UnsafeBuffer(new byte[length]);
      file.read(at, buffer, 0, length);
      check = Frame.check(buffer, 0, length, tag, most);
    }
    return check.isValid() ? buffer : null;
  }

  /** Notes what a frame is; returns the bytes that it and what belongs to it occupy. */
  private long take(UnsafeBuffer frame, long at) {
    int length = Frame.lengthBytes(frame, 0);
    switch (Frame.templateId(frame, 0)) {
      case RecordDecoder.TEMPLATE_ID -> {
        long record =
            new RecordDecoder()
                .wrap(
                    frame, Frame.HEADER_BYTES, RecordDecoder.BLOCK_LENGTH, Frame.version(frame, 0))
                .lengthBytes();
        if (record >= length && record <= lengthBytes - at) {
          records.add(new RecordLocation(segmentId, at, record));
          return Alignment.toPage(record);
        }
        find(Finding.Severity.ERROR, "RECORD_DAMAGED", at, "a record's length cannot be right");
        return 0;
      }
      case NamespaceRecordDecoder.TEMPLATE_ID -> {
        descriptors.add(
            new Placed(
                NamespaceDescriptor.parse(frame, length, segmentId, fileName, at),
                new RecordLocation(segmentId, at, length)));
        return Alignment.toPage(length);
      }
      case SegmentFooterDecoder.TEMPLATE_ID -> {
        footerOffsetBytes = at;
        return Alignment.toPage(length);
      }
      default -> {
        return 0;
      }
    }
  }

  private void find(Finding.Severity severity, String id, long offset, String text) {
    findings.add(new Finding(id, severity, fileName, offset, text));
  }

  String fileName() {
    return fileName;
  }

  StoreId storeId() {
    return storeId;
  }

  SegmentKind kind() {
    return kind;
  }

  long segmentId() {
    return segmentId;
  }

  long creationSequence() {
    return creationSequence;
  }

  long lengthBytes() {
    return lengthBytes;
  }

  /** Where its footer stands, if that is where the file ends; else 0. */
  long footerOffsetBytes() {
    return footerOffsetBytes;
  }

  List<RecordLocation> records() {
    return records;
  }

  List<Placed> descriptors() {
    return descriptors;
  }
}
