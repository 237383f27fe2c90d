package dev.waymark.internal.log;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.layout.Codec;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorView;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Reads records: copies out of the file into private memory, checks there, decodes there, scatters
 * from there. Nothing is decoded before its checksum held. For one thread at a time.
 */
public final class RecordReader {
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
   * Reads and checks the front of a record.
   *
   * @throws CorruptionException if it is not what was written
   */
  public RecordHeader header(RecordLocation location, Layout layout) {
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
    if (Frame.templateId(front, 0) != RecordDecoder.TEMPLATE_ID) {
      throw damaged(location.offsetBytes(), "the front of a record", "another kind of frame");
    }
    return RecordHeader.parse(front, check.lengthBytes(), location, file, layout);
  }

  /**
   * Reads, checks and decodes a part into the caller's memory.
   *
   * @param ahead whether the parts after it will be wanted too, so that they are copied along
   * @throws CorruptionException if a chunk is not what was written
   */
  public void readPart(
      RecordHeader record, RecordHeader.Part part, TensorView view, boolean ahead) {
    long at = part.offsetBytes();
    long rawOffset = 0;
    for (int i = 0; i < part.chunkCount(); i++) {
      int chunk = part.firstChunk() + i;
      int stored = record.storedBytes(chunk);
      int raw = part.chunkRawBytes(i);
      int index = fetch(record, at, stored, ahead);
      check(record, chunk, at, index, stored);
      if (record.isStoredRaw(chunk) || part.codec().codec() == Codec.RAW) {
        view.scatter(part.spec(), part.range(), rawOffset, scratch.stored(), index, raw);
      } else {
        decode(part.codec(), index, stored, raw, record, at);
        view.scatter(part.spec(), part.range(), rawOffset, scratch.raw(), 0, raw);
      }
      at += stored;
      rawOffset += raw;
    }
  }

  /**
   * Checks every chunk of a record, and that each can be decoded, without giving its bytes to
   * anyone.
   */
  public void verify(RecordHeader record) {
    for (RecordHeader.Part part : record.parts()) {
      long at = part.offsetBytes();
      for (int i = 0; i < part.chunkCount(); i++) {
        int chunk = part.firstChunk() + i;
        int stored = record.storedBytes(chunk);
        int index = fetch(record, at, stored, true);
        check(record, chunk, at, index, stored);
        if (!record.isStoredRaw(chunk) && part.codec().codec() != Codec.RAW) {
          decode(part.codec(), index, stored, part.chunkRawBytes(i), record, at);
        }
        at += stored;
      }
    }
  }

  private void check(RecordHeader record, int chunk, long at, int index, int stored) {
    if (scratch.checksumOfStored(index, stored) != record.checksum(chunk)) {
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
      wanted = (int) Math.max(length, Math.min(left, Scratch.CHUNK_BYTES));
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
