package dev.waymark.internal.manifest;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.Frame;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.LongArrayList;

/**
 * Reads a manifest, and tells a torn tail from damage.
 *
 * <p>Edits count by the batch, and the content ends with the last {@link BatchMark} that is reached
 * without meeting anything but valid frames. What follows may be what a loss of power left of
 * batches that no force had covered: pages of them, in any order, so valid frames may well stand
 * behind a hole. It is such a torn tail unless something proves that the missing part was durable:
 *
 * <ul>
 *   <li>a mark anywhere behind the hole that was written when more was durable than is left;
 *   <li>the same said by the caller, who may know it from STATUS;
 *   <li>the checkpoint, which was durable before CURRENT named the manifest.
 * </ul>
 *
 * <p>Then it is damage, and refused. So it is where a frame is valid but says what cannot be, which
 * no torn write brings about. What a force covered that was followed neither by another batch nor
 * by STATUS nor by {@link ManifestLog#proveDurable} cannot be told from a torn tail.
 */
public final class ManifestReader {
  private final FileWindow window;
  private final String fileName;
  private final int fileTag;
  private final EditCodec codec = new EditCodec();
  private final List<Edit> batch = new ArrayList<>();
  private final LongArrayList batchOffsets = new LongArrayList();
  private boolean batchEndsCheckpoint;

  private ManifestHeader header;
  private long position;
  private long contentEnd;
  private long batchFrames;
  private long framesBefore;
  private long editsHandedOut;
  private long markedDurable;
  private long statedDurable;
  private boolean provenIsEndOfBatch;
  private boolean checkpointComplete;
  private long checkpointEnd;
  private long closedAt;
  private String reason = "";

  private ManifestReader(StoreFile file, long manifestId, long endBytes) {
    window = new FileWindow(file, endBytes);
    fileName = file.name();
    fileTag = Frame.tagOf(manifestId);
  }

  /**
   * Reads a whole manifest. What was handed out before a failure does not count.
   *
   * @param provenDurableBytes what else says how much of this manifest was durable: the length in
   *     {@link Status}, where that is about the same manifest; or 0
   * @param edits takes the edits in order, the end of the checkpoint among them
   * @throws CorruptionException if it is damaged, or belongs to another store
   * @throws dev.waymark.error.UnsupportedFormatException if it needs a newer version
   */
  public static ManifestEnd read(
      StoreFile file, long manifestId, StoreId storeId, long provenDurableBytes, EditSink edits) {
    boolean ahead = file.lengthBytes() >= ReadAhead.LEAST_BYTES;
    return read(file, manifestId, storeId, provenDurableBytes, edits, ahead);
  }

  /** As above, on a thread of its own or not. */
  static ManifestEnd read(
      StoreFile file,
      long manifestId,
      StoreId storeId,
      long provenDurableBytes,
      EditSink edits,
      boolean ahead) {
    return new ManifestReader(file, manifestId, file.lengthBytes())
        .read(manifestId, storeId, provenDurableBytes, edits, ahead);
  }

  /**
   * Reads what another process published of a manifest that it goes on writing. All of that is
   * there, or it is damage.
   *
   * @param prefixBytes the length in {@link Status}
   */
  public static ManifestEnd readPrefix(
      StoreFile file, long manifestId, StoreId storeId, long prefixBytes, EditSink edits) {
    long end = Math.min(prefixBytes, file.lengthBytes());
    return new ManifestReader(file, manifestId, end)
        .read(manifestId, storeId, prefixBytes, edits, end >= ReadAhead.LEAST_BYTES);
  }

  /** Reads the first frame only. */
  public static ManifestHeader readHeader(StoreFile file, long manifestId) {
    ManifestReader reader = new ManifestReader(file, manifestId, file.lengthBytes());
    reader.readHeader(manifestId);
    return reader.header;
  }

  private ManifestEnd read(
      long manifestId, StoreId storeId, long provenDurableBytes, EditSink edits, boolean ahead) {
    readHeader(manifestId);
    statedDurable = provenDurableBytes;
    if (!header.storeId().equals(storeId)) {
      throw corrupt(
          0,
          ErrorDetail.of("a manifest of another store")
              .expected("store " + storeId)
              .found("store " + header.storeId()));
    }
    EditTaker taker = new EditTaker(fileName, edits);
    if (ahead) {
      ReadAhead.run(this::readFrames, taker);
    } else {
      readFrames(taker);
    }
    TailScan tail = TailScan.of(window, position, contentEnd, fileTag);
    if (provenDurableBytes > 0 && contentEnd >= provenDurableBytes && !provenIsEndOfBatch) {
      throw corrupt(
          provenDurableBytes,
          ErrorDetail.of("what was published of a manifest does not end with a batch"));
    }
    long proven = Math.max(Math.max(provenDurableBytes, markedDurable), tail.durableBytes());
    if (contentEnd < proven) {
      throw corrupt(
          position,
          ErrorDetail.of("edits that were durable are damaged")
              .expected("a valid batch up to byte " + proven)
              .found(reason));
    }
    if (!checkpointComplete) {
      throw corrupt(
          position,
          ErrorDetail.of("the checkpoint that a manifest begins with is damaged").found(reason));
    }
    boolean torn = tail.usedBytes() > 0;
    return new ManifestEnd(
        header,
        contentEnd,
        torn ? ManifestEnd.Tail.TORN : ManifestEnd.Tail.CLEAN,
        torn ? reason : "",
        tail.usedBytes(),
        editsHandedOut,
        checkpointEnd,
        torn ? 0 : closedAt);
  }

  private void readHeader(long manifestId) {
    Frame.Check check = checkAt(0);
    if (!check.isValid()) {
      throw corrupt(
          0, ErrorDetail.of("a manifest does not begin with its header").found(check.reason()));
    }
    header =
        ManifestHeader.decode(
            window.buffer(), window.load(0, check.lengthBytes()), check.lengthBytes(), fileName);
    if (header.manifestId() != manifestId) {
      throw corrupt(
          0,
          ErrorDetail.of("a manifest under the name of another")
              .expected("manifest " + manifestId)
              .found("manifest " + header.manifestId()));
    }
    position = EditCodec.paddedBytes(check.lengthBytes());
    contentEnd = position;
  }

  private void readFrames(BatchSink batches) {
    while (readFrame(batches)) {}
  }

  /** Reads one frame; false where there is none. */
  private boolean readFrame(BatchSink batches) {
    Frame.Check check = checkAt(position);
    if (!check.isValid()) {
      reason = check.reason();
      return false;
    }
    int lengthBytes = check.lengthBytes();
    int index = window.load(position, lengthBytes);
    if (BatchMark.isMark(window.buffer(), index)) {
      boolean before = checkpointComplete;
      BatchMark mark = BatchMark.decode(window.buffer(), index, lengthBytes, position);
      endBatch(mark, batches);
      closedAt = mark.closes() ? position : 0;
      position += EditCodec.paddedBytes(lengthBytes);
      contentEnd = position;
      if (checkpointComplete && !before) {
        checkpointEnd = contentEnd;
      }
      provenIsEndOfBatch |= contentEnd == statedDurable;
      return true;
    }
    if (position - contentEnd >= BatchMark.BATCH_BYTES) {
      throw corrupt(position, ErrorDetail.of("a batch of edits does not end where it has to"));
    }
    Edit edit = codec.decode(window.buffer(), index, lengthBytes, fileName, position);
    if (edit instanceof Edit.CheckpointEnd end) {
      requireEndOfCheckpoint(end);
    }
    batchFrames++;
    if (edit != null) {
      batch.add(edit);
      batchOffsets.addLong(position);
    }
    position += EditCodec.paddedBytes(lengthBytes);
    return true;
  }

  private void requireEndOfCheckpoint(Edit.CheckpointEnd end) {
    boolean second = checkpointComplete || batchEndsCheckpoint;
    batchEndsCheckpoint = true;
    if (second || end.editCount() != framesBefore + batchFrames) {
      throw corrupt(
          position,
          ErrorDetail.of("the end of a checkpoint is out of place")
              .expected(second ? "one only" : "after " + (framesBefore + batchFrames) + " edits")
              .found(second ? "a second one" : "one that counts " + end.editCount()));
    }
  }

  private void endBatch(BatchMark mark, BatchSink batches) {
    if (mark == null
        || mark.editCount() != batchFrames
        || mark.durableLengthBytes() > contentEnd
        || mark.durableLengthBytes() < markedDurable) {
      throw corrupt(
          position,
          ErrorDetail.of("the mark of a batch does not fit it")
              .expected(batchFrames + " edits")
              .found(mark == null ? "no valid mark" : mark));
    }
    markedDurable = mark.durableLengthBytes();
    batches.take(batch, batchOffsets);
    checkpointComplete |= batchEndsCheckpoint;
    editsHandedOut += batch.size();
    framesBefore += batchFrames;
    batchFrames = 0;
    batchEndsCheckpoint = false;
    batch.clear();
    batchOffsets.clear();
  }

  /** Judges a frame together with its padding, which a single write brought to disk with it. */
  private Frame.Check checkAt(long offset) {
    long left = window.endBytes() - offset;
    int length = (int) Math.min(left, Frame.HEADER_BYTES);
    int index = window.load(offset, length);
    if (length == Frame.HEADER_BYTES) {
      long claimed = Frame.lengthBytes(window.buffer(), index);
      if (claimed > length && claimed <= EditCodec.MAX_FRAME_BYTES) {
        length = (int) Math.min(left, EditCodec.paddedBytes(claimed));
        index = window.load(offset, length);
      }
    }
    Frame.Check check =
        Frame.check(window.buffer(), index, length, fileTag, EditCodec.MAX_FRAME_BYTES);
    if (!check.isValid()) {
      return check;
    }
    long padded = EditCodec.paddedBytes(check.lengthBytes());
    if (padded > left) {
      return new Frame.Check(
          Frame.Status.TORN, check.lengthBytes(), "a frame whose padding is cut off");
    }
    index = window.load(offset, (int) padded);
    for (int i = check.lengthBytes(); i < padded; i++) {
      if (window.buffer().getByte(index + i) != 0) {
        return new Frame.Check(Frame.Status.DAMAGED, 0, "padding that is not zero");
      }
    }
    return check;
  }

  private CorruptionException corrupt(long offset, ErrorDetail detail) {
    return new CorruptionException(detail.at(fileName, offset));
  }
}
