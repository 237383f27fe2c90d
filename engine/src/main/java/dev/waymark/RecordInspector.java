package dev.waymark;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.MovingException;
import dev.waymark.internal.check.ElementStatistics;
import dev.waymark.internal.check.FrameFields;
import dev.waymark.internal.check.ReadOnlyStore;
import dev.waymark.internal.check.SegmentAccount;
import dev.waymark.internal.check.StoreLook;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One frame of a segment, header by header: a record that lives or is dead, a description of a
 * namespace, the segment's own header or footer. Takes no lock and writes nothing. What tensors
 * hold is shown as statistics and the first bytes, never as text.
 */
public final class RecordInspector {
  /** First bytes of a part that are shown. */
  public static final int HEAD_BYTES = 32;

  private static final int TRIES = 3;

  private RecordInspector() {}

  /**
   * A frame.
   *
   * @param message which message it holds, by the schema's name
   * @param lengthBytes of the frame with all that belongs to it
   * @param lives whether the manifest says that it stands there; what is dead may be given back at
   *     any time
   * @param fields its header and message, in order of offset
   * @param parts of a record, its parts; empty where their namespace is not there any more
   * @param damage what is wrong with it, or empty
   */
  public record Report(
      String file,
      long segmentId,
      long offsetBytes,
      String message,
      long lengthBytes,
      boolean lives,
      List<Field> fields,
      List<PartReport> parts,
      String damage) {

    /** {@return whether it, or a part of it, is not what was written} */
    public boolean isDamaged() {
      return !damage.isEmpty() || parts.stream().anyMatch(part -> !part.damage().isEmpty());
    }
  }

  /**
   * A field of a header.
   *
   * @param offsetBytes in the file
   * @param value for people
   */
  public record Field(String name, long offsetBytes, int lengthBytes, String value) {}

  /**
   * A part of a record: a range of a tensor.
   *
   * @param entryOffsetBytes where its entry stands in the file
   * @param offsetBytes where its bytes stand in the file
   * @param head its first decoded bytes in hex, at most {@link #HEAD_BYTES}
   * @param damage what is wrong with it, or empty; then the statistics are of what came before
   */
  public record PartReport(
      String tensor,
      String dtype,
      String codec,
      long entryOffsetBytes,
      int outerFrom,
      int outerCount,
      long rowFrom,
      long rowCount,
      long offsetBytes,
      long storedBytes,
      long rawBytes,
      List<ChunkReport> chunks,
      Statistics statistics,
      String head,
      String damage) {}

  /**
   * A chunk of a part.
   *
   * @param checksum the one that it has to have, in hex
   * @param isStoredRaw whether its codec left it as it was
   */
  public record ChunkReport(
      long offsetBytes, int storedBytes, int rawBytes, String checksum, boolean isStoredRaw) {}

  /**
   * What the elements of a part are like.
   *
   * @param notFinite elements that are no number, or infinite; left out of the rest
   * @param deviation standard deviation
   */
  public record Statistics(
      long elements,
      long zeros,
      long notFinite,
      double least,
      double most,
      double mean,
      double deviation) {}

  /**
   * Reads the frame that starts at a place.
   *
   * @param path the directory of the store
   * @param segmentId number of the segment, as {@link StoreInspector#segments()} shows it
   * @param offsetBytes where the frame starts in the segment's file; 0 for the segment's header
   * @param wholeKeys whether to show keys whole; else their first 8 hex digits
   * @return what stands there, with what is damaged of it
   * @throws InvalidArgumentException if there is no such segment, or no frame starts there
   * @throws CorruptionException if the manifest names a record there, and no frame starts there; or
   *     CURRENT or its manifest is damaged
   * @throws dev.waymark.error.NotAStoreException if there is no store
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote it
   * @throws MovingException if a writer moved on at every look
   */
  public static Report read(Path path, long segmentId, long offsetBytes, boolean wholeKeys) {
    try (StoreDirectory directory = RealDirectory.openReadOnly(path)) {
      Report report = null;
      boolean writing = false;
      for (int i = 0; i < TRIES; i++) {
        ReadOnlyStore store = StoreLook.at(directory, System::currentTimeMillis);
        writing = store.writing();
        report = new Look(directory, store, segmentId, offsetBytes, wholeKeys).read();
        if (report != null && !report.isDamaged()) {
          return report;
        }
        // A place is never written twice: what a later state still names there was there all along.
        if (i > 0 && !isNamed(directory, segmentId, offsetBytes)) {
          throw noFrame(segmentId, offsetBytes);
        }
      }
      if (report == null && writing) {
        // What a writer gives back may be gone before it publishes that nothing names it.
        throw new MovingException(
            ErrorDetail.of("the place is not there, and a writer may have given it back")
                .expected("a record at byte " + offsetBytes + " of segment " + segmentId)
                .found("no frame")
                .remedy("try again in a second"));
      }
      if (report == null) {
        throw new CorruptionException(
            ErrorDetail.of("a record that the manifest names is not there")
                .expected("a record at byte " + offsetBytes + " of segment " + segmentId)
                .found("no frame")
                .remedy("segtool verify says what else is damaged"));
      }
      return report;
    }
  }

  private static InvalidArgumentException noFrame(long segmentId, long offsetBytes) {
    return new InvalidArgumentException(
        ErrorDetail.of("no whole record starts at byte " + offsetBytes + " of segment " + segmentId)
            .remedy("segtool inspect STORE --segment " + segmentId + " lists those that live"));
  }

  private static boolean isNamed(StoreDirectory directory, long segmentId, long offsetBytes) {
    ReadOnlyStore store = StoreLook.at(directory, System::currentTimeMillis);
    return store.segments().stream()
        .anyMatch(
            segment ->
                segment.info().segmentId() == segmentId && isNamed(store, segment, offsetBytes));
  }

  /** Whether the manifest says that something stands there. */
  private static boolean isNamed(ReadOnlyStore store, SegmentAccount segment, long offsetBytes) {
    return offsetBytes == 0
        || segment.sealed() != null && segment.sealed().footerOffsetBytes() == offsetBytes
        || segment.descriptors().stream()
            .anyMatch(placed -> placed.location().offsetBytes() == offsetBytes)
        || isLive(store.forest(), segment.info().segmentId(), offsetBytes);
  }

  private static boolean isLive(Forest forest, long segmentId, long offsetBytes) {
    boolean[] found = {false};
    forest.forEachBoundary(
        node -> {
          for (RecordKind kind : RecordKind.values()) {
            found[0] |= forest.recordAt(node, kind, segmentId, offsetBytes) != null;
          }
        });
    return found[0];
  }

  /** One look at one frame, in one state of the store. */
  private static final class Look {
    private final StoreDirectory directory;
    private final ReadOnlyStore store;
    private final SegmentAccount segment;
    private final long segmentId;
    private final long offset;
    private final boolean wholeKeys;

    Look(
        StoreDirectory directory,
        ReadOnlyStore store,
        long segmentId,
        long offset,
        boolean wholeKeys) {
      this.directory = directory;
      this.store = store;
      this.segmentId = segmentId;
      this.offset = offset;
      this.wholeKeys = wholeKeys;
      this.segment =
          store.segments().stream()
              .filter(s -> s.info().segmentId() == segmentId)
              .findFirst()
              .orElseThrow(
                  () ->
                      new InvalidArgumentException(
                          ErrorDetail.of("the manifest names no segment " + segmentId)
                              .remedy("segtool inspect STORE lists them")));
    }

    /** What stands there, or null where no frame of this segment does. */
    Report read() {
      String file = segment.info().fileName();
      if (!directory.exists(file) || offset < 0 || offset % Alignment.PAGE_BYTES != 0) {
        return null;
      }
      try (StoreFile opened = directory.openReadOnly(file);
          MappedRegion region = opened.map(opened.lengthBytes(), false);
          Scratch scratch = new Scratch.Pool(1).take()) {
        if (offset >= region.lengthBytes()) {
          return null;
        }
        UnsafeBuffer frame = frame(region);
        return frame == null ? null : report(frame, region, scratch, file);
      }
    }

    /** The bytes of the frame, whose checksum may be wrong, or null. */
    private UnsafeBuffer frame(MappedRegion region) {
      long left = region.lengthBytes() - offset;
      UnsafeBuffer frame = new UnsafeBuffer(new byte[(int) Math.min(Alignment.PAGE_BYTES, left)]);
      region.get(offset, frame, 0, frame.capacity());
      if (frame.capacity() < Frame.HEADER_BYTES
          || frame.getInt(0, ByteOrder.LITTLE_ENDIAN) != Frame.MAGIC) {
        return null;
      }
      int length = Frame.lengthBytes(frame, 0);
      if (length < Frame.HEADER_BYTES || length > Math.min(left, FrameFields.MOST_BYTES)) {
        return null;
      }
      UnsafeBuffer whole = new UnsafeBuffer(new byte[length]);
      region.get(offset, whole, 0, length);
      return whole;
    }

    private Report report(UnsafeBuffer frame, MappedRegion region, Scratch scratch, String file) {
      Frame.Check check =
          Frame.check(frame, 0, frame.capacity(), Frame.tagOf(segmentId), FrameFields.MOST_BYTES);
      FrameFields fields = new FrameFields(frame, offset, wholeKeys);
      String damage = check.isValid() ? "" : check.reason();
      List<Field> shown =
          fields.list().stream()
              .map(f -> new Field(f.name(), f.offsetBytes(), f.lengthBytes(), f.value()))
              .toList();
      boolean lives = isNamed(store, segment, offset);
      List<PartReport> parts = new ArrayList<>();
      long length = frame.capacity();
      if (check.isValid() && fields.isRecord()) {
        length = fields.recordLengthBytes();
        NamespaceState namespace = store.forest().namespace(fields.recordNamespaceId());
        if (namespace != null) {
          try {
            RecordReader reader = new RecordReader(region, file, scratch);
            RecordHeader record =
                reader.header(new RecordLocation(segmentId, offset, length), namespace.layout());
            for (int i = 0; i < record.parts().length; i++) {
              parts.add(part(reader, record, i));
            }
          } catch (CorruptionException e) {
            damage = e.detail().sentence();
          }
        }
      }
      return new Report(
          file,
          segmentId,
          offset,
          fields.message(),
          length,
          lives,
          shown,
          List.copyOf(parts),
          damage);
    }

    private PartReport part(RecordReader reader, RecordHeader record, int index) {
      RecordHeader.Part part = record.parts()[index];
      ElementStatistics statistics = new ElementStatistics(part.spec().dtype());
      List<ChunkReport> chunks = new ArrayList<>();
      byte[] head = new byte[(int) Math.min(HEAD_BYTES, part.range().rawBytes(part.spec()))];
      String damage = "";
      long at = part.offsetBytes();
      for (int i = 0; i < part.chunkCount(); i++) {
        boolean first = i == 0;
        if (damage.isEmpty()) {
          try {
            reader.readChunk(
                record,
                part,
                i,
                at,
                (bytes, from, length) -> {
                  statistics.add(bytes, from, length);
                  if (first) {
                    bytes.getBytes(from, head, 0, Math.min(head.length, length));
                  }
                });
          } catch (CorruptionException e) {
            damage = e.detail().sentence();
          }
        }
        chunks.add(
            new ChunkReport(
                offset + at,
                record.storedBytes(part, i),
                part.chunkRawBytes(i),
                String.format("%08x", record.checksum(part, i)),
                record.isStoredRaw(part, i)));
        at += record.storedBytes(part, i);
      }
      return new PartReport(
          part.spec().name(),
          part.spec().dtype().name(),
          part.codec().codec().name(),
          offset + RecordHeader.partEntryOffset(index),
          part.range().outerFrom(),
          part.range().outerCount(),
          part.range().rowFrom(),
          part.range().rowCount(),
          offset + part.offsetBytes(),
          part.storedBytes(),
          part.range().rawBytes(part.spec()),
          List.copyOf(chunks),
          new Statistics(
              statistics.elements(),
              statistics.zeros(),
              statistics.notFinite(),
              statistics.least(),
              statistics.most(),
              statistics.mean(),
              statistics.deviation()),
          statistics.elements() == 0 ? "" : HexFormat.of().formatHex(head),
          damage);
    }
  }
}
