package dev.waymark.internal.recover;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentHeader;
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
  private final SegmentHeader header;
  private final long lengthBytes;
  private long footerOffsetBytes;

  /** A description of a namespace, and where it stands. */
  record Placed(NamespaceDescriptor descriptor, RecordLocation location) {}

  private SegmentScan(
      String fileName, SegmentHeader header, long lengthBytes, List<Finding> findings) {
    this.fileName = fileName;
    this.header = header;
    this.lengthBytes = lengthBytes;
    this.findings = findings;
  }

  /**
   * Reads a file; null where what it says cannot be used.
   *
   * @throws dev.waymark.error.StoreIoException if it cannot be read: that proves nothing about it
   */
  static SegmentScan of(StoreDirectory directory, String fileName, List<Finding> findings) {
    try (StoreFile file = directory.openReadOnly(fileName)) {
      long lengthBytes = file.lengthBytes() & -Alignment.PAGE_BYTES;
      SegmentHeader header = SegmentHeader.read(file);
      if (header == null) {
        findings.add(
            new Finding(
                "SEGMENT_HEADER_DAMAGED",
                Finding.Severity.ERROR,
                fileName,
                0,
                "the segment's header cannot be used; its records are not looked for"));
        return null;
      }
      SegmentScan scan = new SegmentScan(fileName, header, lengthBytes, findings);
      scan.pages(file);
      return scan;
    } catch (CorruptionException | InvalidArgumentException e) {
      findings.add(
          new Finding(
              "SEGMENT_UNREADABLE", Finding.Severity.ERROR, fileName, -1, e.detail().sentence()));
      return null;
    }
  }

  /** Whether a file has a header that can be used. */
  static boolean isSegment(StoreDirectory directory, String fileName) {
    try (StoreFile file = directory.openReadOnly(fileName)) {
      return SegmentHeader.read(file) != null;
    } catch (CorruptionException | InvalidArgumentException e) {
      return false;
    }
  }

  private void pages(StoreFile file) {
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
  }

  /** The valid frame that starts at a page, or null. */
  private UnsafeBuffer frame(StoreFile file, UnsafeBuffer page, long at) {
    int available = page.capacity();
    int tag = Frame.tagOf(header.segmentId());
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
          records.add(new RecordLocation(header.segmentId(), at, record));
          return Alignment.toPage(record);
        }
        find(Finding.Severity.ERROR, "RECORD_DAMAGED", at, "a record's length cannot be right");
        return 0;
      }
      case NamespaceRecordDecoder.TEMPLATE_ID -> {
        descriptors.add(
            new Placed(
                NamespaceDescriptor.parse(frame, length, header.segmentId(), fileName, at),
                new RecordLocation(header.segmentId(), at, length)));
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

  /** The file that was read, which may have another name than its segment. */
  String fileName() {
    return fileName;
  }

  SegmentHeader header() {
    return header;
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
