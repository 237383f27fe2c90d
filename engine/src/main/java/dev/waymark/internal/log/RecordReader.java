package dev.waymark.internal.log;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.codec.RawReason;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.layout.Codec;
import dev.waymark.layout.Layout;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.TensorView;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Reads records: copies out of the file into private memory, checks there, decodes there, scatters
 * from there. Nothing is decoded before its checksum held. For one thread at a time.
 */
public final class RecordReader {
  /** Read, checked and given away while it is in the second cache, which is small on some. */
  private static final int STEP_BYTES = 128 << 10;

  /** A front is no longer than the tables of a record may be. */
  private static final int MAX_FRONT_BYTES = 4 << 20;

  private final MappedRegion region;
  private final String file;
  private final Scratch scratch;

  /** What of the record {@code windowOf} stands in the scratch's stored bytes. */
  private RecordHeader windowOf;

  private long windowFrom;
  private int windowBytes;

  /** A reader of one segment, which uses a scratch until the caller closes that. */
  public RecordReader(MappedRegion region, String file, Scratch scratch) {
    this.region = region;
    this.file = file;
    this.scratch = scratch;
  }

  /**
   * The namespace of a record, by its front alone.
   *
   * @throws CorruptionException if the front is damaged
   */
  public int namespaceOf(RecordLocation location) {
    UnsafeBuffer front = front(location);
    return (int)
        new RecordDecoder()
            .wrap(
                front, Frame.HEADER_BYTES, RecordDecoder.BLOCK_LENGTH, RecordDecoder.SCHEMA_VERSION)
            .namespaceId();
  }

  /**
   * Reads and checks the front of a record.
   *
   * @throws CorruptionException if it is not what was written
   */
  public RecordHeader header(RecordLocation location, Layout layout) {
    UnsafeBuffer front = front(location);
    return RecordHeader.parse(front, Frame.lengthBytes(front, 0), location, file, layout);
  }

  private UnsafeBuffer front(RecordLocation location) {
    windowOf = null;
    UnsafeBuffer front = scratch.stored();
    int first = (int) Math.min(Alignment.PAGE_BYTES, location.lengthBytes());
    checkInside(location);
    region.get(location.offsetBytes(), front, 0, first);
    int claimed = first < Frame.HEADER_BYTES ? 0 : Frame.lengthBytes(front, 0);
    if (claimed > first && claimed <= Math.min(MAX_FRONT_BYTES, location.lengthBytes())) {
      if (claimed > front.capacity()) {
        front = new UnsafeBuffer(new byte[claimed]);
      }
      region.get(location.offsetBytes(), front, 0, claimed);
      first = claimed;
    }
    Frame.Check check =
        Frame.check(front, 0, first, Frame.tagOf(location.segmentId()), MAX_FRONT_BYTES);
    if (!check.isValid()) {
      throw damaged(location.offsetBytes(), "the front of a record", check.reason());
    }
    if (Frame.templateId(front, 0) != RecordDecoder.TEMPLATE_ID
        || Frame.blockLength(front, 0) != RecordDecoder.BLOCK_LENGTH) {
      throw damaged(location.offsetBytes(), "the front of a record", "another kind of frame");
    }
    return front;
  }

  /**
   * Reads, checks and decodes those rows of a part that are wanted, into the caller's memory.
   * Chunks that hold none of them are not read.
   *
   * @param fromRow first row wanted
   * @param toRow one past the last row wanted
   * @param ahead whether the parts after it will be wanted too, so that they are copied along
   * @return rows given, counted at each outer position
   * @throws CorruptionException if a chunk is not what was written
   */
  public long readPart(
      RecordHeader record,
      RecordHeader.Part part,
      TensorView view,
      long fromRow,
      long toRow,
      boolean ahead) {
    PartRange range = part.range();
    long from = Math.max(fromRow, range.rowFrom()) - range.rowFrom();
    long to = Math.min(toRow, range.rowFrom() + range.rowCount()) - range.rowFrom();
    if (from >= to) {
      return 0;
    }
    boolean whole = from == 0 && to == range.rowCount();
    Rows rows = new Rows(part, view, from, to, whole);
    long at = part.offsetBytes();
    long rawOffset = 0;
    for (int i = 0; i < part.chunkCount(); i++) {
      int chunk = part.firstChunk() + i;
      int stored = record.storedBytes(chunk);
      int raw = part.chunkRawBytes(i);
      if (whole || touches(part, rawOffset, raw, from, to)) {
        if (isAsItIs(record, part, chunk) && stored > STEP_BYTES) {
          giveInSteps(record, chunk, at, rows, rawOffset);
        } else {
          int index = fetch(record, at, stored, ahead);
          check(record, chunk, at, index, stored);
          if (isAsItIs(record, part, chunk)) {
            rows.give(rawOffset, scratch.stored(), index, raw);
          } else {
            decode(part.codec(), index, stored, raw, record, at);
            rows.give(rawOffset, scratch.raw(), 0, raw);
          }
        }
      }
      at += stored;
      rawOffset += raw;
    }
    return (to - from) * range.outerCount();
  }

  private static boolean touches(
      RecordHeader.Part part, long rawOffset, int raw, long from, long to) {
    long lane = part.range().rowCount() * part.spec().innerBytes();
    if (rawOffset / lane != (rawOffset + raw - 1) / lane) {
      return true;
    }
    long first = rawOffset % lane / part.spec().innerBytes();
    long last = (rawOffset + raw - 1) % lane / part.spec().innerBytes();
    return first < to && last >= from;
  }

  /**
   * Gives away a chunk that is stored as it is, step by step while each is in the cache, and checks
   * it as a whole at the end: what was given counts only once the restore ends well.
   */
  private void giveInSteps(RecordHeader record, int chunk, long at, Rows rows, long rawOffset) {
    int stored = record.storedBytes(chunk);
    scratch.restartChecksum();
    for (int done = 0; done < stored; ) {
      int step = Math.min(STEP_BYTES, stored - done);
      int index = fetch(record, at + done, step, false);
      scratch.addStored(index, step);
      rows.give(rawOffset + done, scratch.stored(), index, step);
      done += step;
    }
    check(record, chunk, at, scratch.checksum());
  }

  private static boolean isAsItIs(RecordHeader record, RecordHeader.Part part, int chunk) {
    return record.isStoredRaw(chunk) || part.codec().codec() == Codec.RAW;
  }

  /** The wanted rows of a part, given to a view: all of them, or from one to before another. */
  private record Rows(
      RecordHeader.Part part, TensorView view, long from, long to, boolean isWhole) {
    /** Gives what so many raw bytes of the part, from an offset on, have of the rows. */
    void give(long rawOffset, UnsafeBuffer source, int index, int raw) {
      if (isWhole) {
        view.scatter(part.spec(), part.range(), rawOffset, source, index, raw);
        return;
      }
      long inner = part.spec().innerBytes();
      long lane = part.range().rowCount() * inner;
      long end = rawOffset + raw;
      for (long outer = rawOffset / lane; outer * lane < end; outer++) {
        long start = Math.max(rawOffset, outer * lane + from * inner);
        long stop = Math.min(end, outer * lane + to * inner);
        if (start < stop) {
          int shift = (int) (start - rawOffset);
          view.scatter(
              part.spec(), part.range(), start, source, index + shift, (int) (stop - start));
        }
      }
    }
  }

  /**
   * Checks every chunk of a record, and that each can be decoded, without giving its bytes to
   * anyone.
   */
  public void verify(RecordHeader record) {
    verify(record, true);
  }

  /** Checks every chunk of a record against its checksum. */
  public void verifyChecksums(RecordHeader record) {
    verify(record, false);
  }

  private void verify(RecordHeader record, boolean decode) {
    for (RecordHeader.Part part : record.parts()) {
      long at = part.offsetBytes();
      for (int i = 0; i < part.chunkCount(); i++) {
        at += chunk(record, part, i, at, decode, (bytes, index, length) -> {});
      }
    }
  }

  /** Takes the decoded bytes of a chunk, which are there only during the call. */
  public interface ChunkBytes {
    /** Takes {@code length} bytes from {@code index} on. */
    void accept(UnsafeBuffer bytes, int index, int length);
  }

  /**
   * Reads, checks and decodes one chunk of a part.
   *
   * @param chunk counted from the part's first
   * @param at where it stands in the record
   * @return its stored bytes
   * @throws CorruptionException if it is not what was written
   */
  public int readChunk(
      RecordHeader record, RecordHeader.Part part, int chunk, long at, ChunkBytes consumer) {
    return chunk(record, part, chunk, at, true, consumer);
  }

  private int chunk(
      RecordHeader record,
      RecordHeader.Part part,
      int ofPart,
      long at,
      boolean decode,
      ChunkBytes consumer) {
    int chunk = part.firstChunk() + ofPart;
    int stored = record.storedBytes(chunk);
    int index = fetch(record, at, stored, true);
    check(record, chunk, at, index, stored);
    if (isAsItIs(record, part, chunk)) {
      consumer.accept(scratch.stored(), index, stored);
    } else if (decode) {
      int raw = part.chunkRawBytes(ofPart);
      decode(part.codec(), index, stored, raw, record, at);
      consumer.accept(scratch.raw(), 0, raw);
    }
    return stored;
  }

  /**
   * Why a chunk is stored as it is. The record says only that it is; encoding gives the reason, as
   * it did when the chunk was written.
   *
   * @param chunk counted from the part's first; one that is stored raw
   * @throws CorruptionException if it is not what was written
   */
  public RawReason whyStoredRaw(RecordHeader record, RecordHeader.Part part, int chunk) {
    if (!part.codec().codec().isLossy()) {
      return RawReason.NOT_SMALLER;
    }
    long at = part.offsetBytes();
    for (int i = 0; i < chunk; i++) {
      at += record.storedBytes(part.firstChunk() + i);
    }
    int raw = part.chunkRawBytes(chunk);
    int index = fetch(record, at, raw, false);
    check(record, part.firstChunk() + chunk, at, index, raw);
    int result =
        part.codec().encode(scratch.codec(), scratch.stored(), index, raw, scratch.raw(), 0);
    // What can be encoded after all is what was measured and found to be too far off.
    return result < 0 ? RawReason.ofResult(result) : RawReason.INEXACT;
  }

  private void check(RecordHeader record, int chunk, long at, int index, int stored) {
    check(record, chunk, at, scratch.checksumOfStored(index, stored));
  }

  private void check(RecordHeader record, int chunk, long at, int checksum) {
    if (checksum != record.checksum(chunk)) {
      throw damaged(
          record.location().offsetBytes() + at, "a chunk of a record", "its checksum differs");
    }
  }

  private void decode(
      ChunkCodec codec, int index, int stored, int raw, RecordHeader record, long at) {
    try {
      codec.decode(scratch.codec(), scratch.stored(), index, stored, scratch.raw(), 0, raw);
    } catch (CorruptionException e) {
      throw new CorruptionException(
          ErrorDetail.of("a chunk with the right checksum cannot be decoded")
              .at(file, record.location().offsetBytes() + at)
              .found(e.detail().what()),
          e);
    }
  }

  /** Brings bytes of a record into the scratch; returns where they start there. */
  private int fetch(RecordHeader record, long at, int length, boolean ahead) {
    if (windowOf == record && at >= windowFrom && at + length <= windowFrom + windowBytes) {
      return (int) (at - windowFrom);
    }
    int wanted = length;
    if (ahead) {
      long left = record.location().lengthBytes() - at;
      wanted = (int) Math.max(length, Math.min(left, STEP_BYTES));
    }
    windowOf = null;
    region.get(record.location().offsetBytes() + at, scratch.stored(), 0, wanted);
    windowOf = record;
    windowFrom = at;
    windowBytes = wanted;
    return 0;
  }

  private void checkInside(RecordLocation location) {
    if (location.offsetBytes() < 0
        || location.lengthBytes() < Frame.HEADER_BYTES
        || location.lengthBytes() > region.lengthBytes() - location.offsetBytes()) {
      throw damaged(
          location.offsetBytes(),
          "the place of a record",
          "outside of the file's " + region.lengthBytes() + " bytes");
    }
  }

  private CorruptionException damaged(long offset, String what, String found) {
    return new CorruptionException(
        ErrorDetail.of(what + " is damaged").at(file, offset).found(found));
  }
}
