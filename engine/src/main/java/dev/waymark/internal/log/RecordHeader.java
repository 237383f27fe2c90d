package dev.waymark.internal.log;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.wire.GroupSizeEncodingDecoder;
import dev.waymark.internal.wire.KeyDecoder;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.internal.wire.RecordEncoder;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.TensorSpec;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The front of a record, after its checksum held and every number in it was found to agree with the
 * others, with the layout, and with the space that the record has. What this class holds can be
 * followed without another check.
 */
public final class RecordHeader {
  /** Set in a chunk's stored length where a codec left the chunk as it was. */
  public static final int STORED_RAW = 0x8000_0000;

  private static final int PART_BYTES = RecordDecoder.PartsDecoder.sbeBlockLength();
  private static final int CHUNK_BYTES = RecordDecoder.ChunksDecoder.sbeBlockLength();

  private final RecordLocation location;
  private final int frontBytes;
  private final RecordKind kind;
  private final int namespaceId;
  private final BoundaryKey key;
  private final BoundaryKey parentKey;
  private final long tokenFrom;
  private final long tokenTo;
  private final long coveredFrom;
  private final long sequence;
  private final int pieceIndex;
  private final int pieceCount;
  private final Part[] parts;
  private final int[] chunkStored;
  private final int[] chunkChecksums;

  /**
   * A part of a record.
   *
   * @param firstChunk its first entry in the table of chunks
   * @param offsetBytes from the record's first byte
   */
  public record Part(
      int tensorIndex,
      TensorSpec spec,
      PartRange range,
      ChunkCodec codec,
      int firstChunk,
      int chunkCount,
      long storedBytes,
      long offsetBytes) {

    /** Raw bytes of one of its chunks, counted from its first. */
    public int chunkRawBytes(int chunk) {
      long done = (long) chunk * codec.chunkRawBytes();
      return (int) Math.min(codec.chunkRawBytes(), range.rawBytes(spec) - done);
    }
  }

  private RecordHeader(
      DirectBuffer front, int frontBytes, RecordLocation location, String file, Layout layout) {
    this.location = location;
    this.frontBytes = frontBytes;
    Reader in = new Reader(front, frontBytes, file, location.offsetBytes());
    RecordDecoder decoder = new RecordDecoder();
    int blockLength = Frame.blockLength(front, 0);
    in.require(blockLength == RecordDecoder.BLOCK_LENGTH, "length of the fixed part");
    decoder.wrap(front, Frame.HEADER_BYTES, blockLength, RecordDecoder.SCHEMA_VERSION);
    kind = RecordKind.ofWireCode(decoder.kind());
    in.require(kind != null, "kind of record");
    in.require(decoder.segmentId() == location.segmentId(), "segment id");
    in.require(decoder.lengthBytes() == location.lengthBytes(), "length");
    in.require(decoder.reserved() == 0 && decoder.reserved2() == 0, "reserved bytes");
    namespaceId = (int) decoder.namespaceId();
    sequence = decoder.sequence();
    tokenFrom = decoder.tokenFrom();
    tokenTo = decoder.tokenTo();
    coveredFrom = decoder.coveredFrom();
    pieceIndex = decoder.pieceIndex();
    pieceCount = decoder.pieceCount();
    key = read(decoder.key());
    parentKey = read(decoder.parentKey());
    in.require(
        tokenFrom >= 0 && tokenTo > tokenFrom && tokenTo <= Integer.MAX_VALUE, "token range");
    in.require(coveredFrom >= 0 && coveredFrom <= tokenTo, "covered range");
    in.require(sequence >= 0, "sequence");
    in.require(pieceIndex < pieceCount, "piece");

    int partsAt = Frame.HEADER_BYTES + blockLength;
    int partCount = in.group(partsAt, PART_BYTES);
    int entriesAt = partsAt + GroupSizeEncodingDecoder.ENCODED_LENGTH;
    int chunksAt = entriesAt + partCount * PART_BYTES;
    int chunkCount = in.group(chunksAt, CHUNK_BYTES);
    int tableAt = chunksAt + GroupSizeEncodingDecoder.ENCODED_LENGTH;
    in.require(tableAt + chunkCount * CHUNK_BYTES == frontBytes, "length of the front");
    chunkStored = new int[chunkCount];
    chunkChecksums = new int[chunkCount];
    for (int i = 0; i < chunkCount; i++) {
      chunkStored[i] = in.int32(tableAt + i * CHUNK_BYTES);
      chunkChecksums[i] = in.int32(tableAt + i * CHUNK_BYTES + 4);
    }
    parts = new Part[partCount];
    RecordDecoder.PartsDecoder group =
        decoder.wrap(front, Frame.HEADER_BYTES, blockLength, RecordDecoder.SCHEMA_VERSION).parts();
    int firstChunk = 0;
    long end = Alignment.toPart(frontBytes);
    for (int i = 0; i < partCount; i++) {
      group.next();
      in.require(group.tensor() < layout.tensors().size(), "tensor of part ", i);
      in.require(group.flags() == 0, "flags of part ", i);
      TensorSpec spec = layout.tensors().get(group.tensor());
      PartRange range = range(group, spec, in, i);
      Codec named = Codec.ofWireCode(group.codec());
      in.require(named != null && ChunkCodecs.applicable(named, spec), "codec of part ", i);
      ChunkCodec codec = ChunkCodecs.of(named, spec);
      long raw = range.rawBytes(spec);
      in.require(raw > 0, "extent of part ", i);
      long chunks = (raw + codec.chunkRawBytes() - 1) / codec.chunkRawBytes();
      in.require(
          group.chunkCount() == chunks && chunks <= chunkCount - firstChunk, "chunks of part ", i);
      end = Alignment.toPart(end);
      in.require(group.offsetBytes() == end, "offset of part ", i);
      Part part =
          new Part(
              group.tensor(),
              spec,
              range,
              codec,
              firstChunk,
              (int) chunks,
              group.storedLengthBytes(),
              group.offsetBytes());
      long stored = 0;
      for (int chunk = 0; chunk < chunks; chunk++) {
        int bytes = storedBytes(firstChunk + chunk);
        int most =
            isStoredRaw(firstChunk + chunk) || named == Codec.RAW
                ? part.chunkRawBytes(chunk)
                : codec.maxStoredBytes(part.chunkRawBytes(chunk));
        boolean exact = isStoredRaw(firstChunk + chunk) || named == Codec.RAW;
        in.require(exact ? bytes == most : bytes <= most, "stored length of a chunk of part ", i);
        in.require(!(named == Codec.RAW && isStoredRaw(firstChunk + chunk)), "flag of part ", i);
        stored += bytes;
      }
      in.require(stored == group.storedLengthBytes(), "stored length of part ", i);
      end += stored;
      firstChunk += (int) chunks;
      parts[i] = part;
    }
    in.require(firstChunk == chunkCount, "number of chunks");
    in.require(end == location.lengthBytes(), "end of the last part");
  }

  /**
   * Reads the front of a record from private memory in which {@link Frame#check} found it valid.
   *
   * @throws CorruptionException naming the field that does not agree
   */
  static RecordHeader parse(
      DirectBuffer front, int frontBytes, RecordLocation location, String file, Layout layout) {
    try {
      return new RecordHeader(front, frontBytes, location, file, layout);
    } catch (ArithmeticException e) {
      throw new CorruptionException(
          ErrorDetail.of("a number in the front of a record overflows")
              .at(file, location.offsetBytes()),
          e);
    }
  }

  /** Makes the front of a record one of another segment: all else stays as it is. */
  static void retag(UnsafeBuffer front, long segmentId) {
    front.putLong(
        Frame.HEADER_BYTES + RecordEncoder.segmentIdEncodingOffset(),
        segmentId,
        ByteOrder.LITTLE_ENDIAN);
    Frame.seal(front, 0, front.capacity(), Frame.tagOf(segmentId));
  }

  private PartRange range(RecordDecoder.PartsDecoder group, TensorSpec spec, Reader in, int part) {
    long outerFrom = group.outerFrom();
    long outerCount = group.outerCount();
    in.require(
        outerFrom <= spec.outer() && outerCount <= spec.outer() - outerFrom,
        "outer range of part ",
        part);
    long rowFrom = group.rowFrom();
    long rowCount = group.rowCount();
    long first = firstRow(spec);
    long end = endRow(spec);
    in.require(
        rowFrom >= first && rowCount >= 0 && rowFrom <= end && rowCount <= end - rowFrom,
        "row range of part ",
        part);
    return new PartRange((int) outerFrom, (int) outerCount, rowFrom, rowCount);
  }

  /** First row of a tensor that a record of this kind may hold. */
  private long firstRow(TensorSpec spec) {
    if (spec.growth() instanceof Growth.Window window) {
      return kind == RecordKind.DELTA
          ? Layout.windowStart(window, coveredFrom, tokenTo)
          : Math.min(tokenFrom, window.sinkTokens());
    }
    return spec.isFixed() ? 0 : spec.rowsAfter(tokenFrom);
  }

  /**
   * One past the last row of a tensor that a record of this kind may hold; 0 if it may hold none.
   */
  private long endRow(TensorSpec spec) {
    return switch (kind) {
      case APPEND ->
          spec.growth() instanceof Growth.Window window
              ? Math.min(tokenTo, window.sinkTokens())
              : spec.isFixed() ? -1 : spec.rowsAfter(tokenTo);
      case DELTA -> spec.growth() instanceof Growth.Window ? tokenTo : -1;
      case STATE -> spec.isFixed() ? spec.rowsAfter(tokenTo) : -1;
    };
  }

  private static BoundaryKey read(KeyDecoder key) {
    return new BoundaryKey(key.word0(), key.word1(), key.word2(), key.word3());
  }

  /** Where the record stands. */
  public RecordLocation location() {
    return location;
  }

  /** Bytes of the header and its tables, by which the parts follow. */
  public int frontBytes() {
    return frontBytes;
  }

  /** What it holds. */
  public RecordKind kind() {
    return kind;
  }

  /** Whose it is. */
  public int namespaceId() {
    return namespaceId;
  }

  /** The boundary's key. */
  public BoundaryKey key() {
    return key;
  }

  /** The key of the boundary's parent. */
  public BoundaryKey parentKey() {
    return parentKey;
  }

  /** First token of the boundary's block. */
  public long tokenFrom() {
    return tokenFrom;
  }

  /** One past the last token of the boundary's block. */
  public long tokenTo() {
    return tokenTo;
  }

  /** Of a DELTA the first window row that it may hold. */
  public long coveredFrom() {
    return coveredFrom;
  }

  /** Order of writing. */
  public long sequence() {
    return sequence;
  }

  /** Place among the pieces of its contribution. */
  public int pieceIndex() {
    return pieceIndex;
  }

  /** Pieces of its contribution. */
  public int pieceCount() {
    return pieceCount;
  }

  /** Its parts, in the order in which they stand. */
  public Part[] parts() {
    return parts;
  }

  /** Whether a chunk of a part, counted from its first, is stored as its codec left it. */
  public boolean isStoredRaw(Part part, int chunk) {
    return isStoredRaw(part.firstChunk() + chunk);
  }

  /** Where a part's entry stands, from the record's first byte. */
  public static int partEntryOffset(int part) {
    return Frame.HEADER_BYTES
        + RecordDecoder.BLOCK_LENGTH
        + GroupSizeEncodingDecoder.ENCODED_LENGTH
        + part * PART_BYTES;
  }

  /** Stored bytes of a part's chunk, counted from its first. */
  public int storedBytes(Part part, int chunk) {
    return storedBytes(part.firstChunk() + chunk);
  }

  /** The checksum that a part's chunk has to have, counted from its first. */
  public int checksum(Part part, int chunk) {
    return checksum(part.firstChunk() + chunk);
  }

  int storedBytes(int chunk) {
    return chunkStored[chunk] & ~STORED_RAW;
  }

  boolean isStoredRaw(int chunk) {
    return (chunkStored[chunk] & STORED_RAW) != 0;
  }

  int checksum(int chunk) {
    return chunkChecksums[chunk];
  }

  /** Reads numbers of the front, refusing what does not agree. */
  private record Reader(DirectBuffer front, int frontBytes, String file, long offset) {
    void require(boolean holds, String field) {
      if (!holds) {
        throw new CorruptionException(
            ErrorDetail.of("the " + field + " of a record does not agree with the rest of it")
                .at(file, offset));
      }
    }

    /** The message is put together only where it is needed: this stands in the path of restores. */
    void require(boolean holds, String field, int number) {
      if (!holds) {
        require(false, field + number);
      }
    }

    int int32(int at) {
      return front.getInt(at, ByteOrder.LITTLE_ENDIAN);
    }

    int group(int at, int entryBytes) {
      require(at + GroupSizeEncodingDecoder.ENCODED_LENGTH <= frontBytes, "length of a table");
      int stated = front.getShort(at, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
      int count = front.getShort(at + 2, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
      require(stated == entryBytes, "entry length of a table");
      long end = at + GroupSizeEncodingDecoder.ENCODED_LENGTH + (long) count * entryBytes;
      require(end <= frontBytes, "length of a table");
      return count;
    }
  }
}
