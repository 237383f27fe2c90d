package dev.waymark.internal.manifest;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StoreIoException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.internal.log.Frame;
import java.util.concurrent.locks.ReentrantLock;
import org.agrona.ExpandableArrayBuffer;

/**
 * The writer of one manifest. Edits gather in memory, in batches that end in a {@link BatchMark};
 * {@link #flushBatch} writes them by one positional write, {@link #force} makes them durable.
 *
 * <p>What always holds:
 *
 * <ul>
 *   <li>What is gathered, its marks included, has allocated space, and so flushing never meets a
 *       full disk. That is an error of {@link #append}, which then changed nothing.
 *   <li>{@link #RESERVE_BYTES} beyond that are allocated too, and only the edits that free space
 *       may use them.
 *   <li>No mark claims more to be durable than a force that returned had covered.
 *   <li>After a write or a force failed nobody knows what the file holds: nothing more is written,
 *       since a later force may succeed although what the failed one covered is lost.
 * </ul>
 *
 * <p>Threads may call it at once; forces exclude each other, since the system tells only one of
 * them about an error, but neither appends nor flushes wait for a force.
 */
public final class ManifestLog implements AutoCloseable {
  /** Allocated beyond the end, for the edits that free space on a full disk. */
  public static final int RESERVE_BYTES = 64 << 10;

  /** The file grows by no more than this at once. */
  public static final int LARGEST_STEP_BYTES = 1 << 20;

  private static final int SMALLEST_STEP_BYTES = 64 << 10;
  private static final int BLOCK_BYTES = 4096;
  private static final int FIRST_BUFFER_BYTES = 4 << 10;
  private static final int KEPT_BUFFER_BYTES = 4 << 20;

  private final StoreFile file;
  private final long manifestId;
  private final int fileTag;
  private final EditCodec codec = new EditCodec();
  private final ReentrantLock forcing = new ReentrantLock();

  private ExpandableArrayBuffer pending = new ExpandableArrayBuffer(FIRST_BUFFER_BYTES);
  private int pendingBytes;
  private int batchStart;
  private long batchEdits;
  private long checkpointBytes;
  private long lengthBytes;
  private long durableLengthBytes;
  private long allocatedBytes;
  private Throwable poison;

  private ManifestLog(StoreFile file, long manifestId) {
    this.file = file;
    this.manifestId = manifestId;
    this.fileTag = Frame.tagOf(manifestId);
  }

  /** The file of a manifest. */
  public static String fileName(long manifestId) {
    return "manifest-" + manifestId + ".log";
  }

  /**
   * Creates the file, which must not exist, and writes its header. Neither is durable before {@link
   * #force} and the directory's. Where it fails, no file is left.
   */
  public static ManifestLog create(
      StoreDirectory directory, long manifestId, StoreId storeId, long createdMillis) {
    StoreFile file = directory.create(fileName(manifestId));
    try {
      ManifestLog log = new ManifestLog(file, manifestId);
      log.begin(new ManifestHeader(storeId, manifestId, createdMillis, FormatVersions.OWN));
      return log;
    } catch (Throwable e) {
      Leftovers.remove(directory, file, e);
      throw e;
    }
  }

  /**
   * Goes on with a manifest that was closed cleanly, so that it need not be written anew. All up to
   * the closing mark was forced, that mark says; the mark itself may be only in the page cache, and
   * clean there after a force that failed: so it is written again, and forced.
   *
   * @param end of the manifest, with a closing mark
   * @throws DiskFullException if there is no room for what is allocated ahead; nothing was changed
   */
  public static ManifestLog resume(StoreDirectory directory, ManifestEnd end) {
    long manifestId = end.header().manifestId();
    StoreFile file = directory.open(fileName(manifestId));
    try {
      ManifestLog log = new ManifestLog(file, manifestId);
      log.resume(end);
      return log;
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  private synchronized void resume(ManifestEnd end) {
    long fileBytes = file.lengthBytes();
    allocatedBytes = end.validLengthBytes();
    if (fileBytes > allocatedBytes) {
      // A copy of the store may have holes there.
      allocateTo(fileBytes);
    }
    checkpointBytes = end.checkpointBytes();
    lengthBytes = end.closedAtBytes();
    durableLengthBytes = lengthBytes;
    allocateFor(BatchMark.FRAME_BYTES, false);
    endBatch();
    flushBatch();
    force();
  }

  private synchronized void begin(ManifestHeader header) {
    int length = header.encode(pending, 0);
    pendingBytes = (int) EditCodec.paddedBytes(length);
    pending.setMemory(length, pendingBytes - length, (byte) 0);
    batchStart = pendingBytes;
    allocateFor(pendingBytes, false);
    flushBatch();
  }

  /**
   * Makes room for what is going to be appended, beyond what was appended already. Where the log is
   * poisoned, does nothing: a new manifest has to take its place in any case.
   *
   * @param mayUseReserve whether only edits that free space will need it
   * @throws DiskFullException if there is no room for it
   */
  public synchronized void makeRoom(long bytes, boolean mayUseReserve) {
    if (poison == null) {
      allocateFor(pendingBytes + bytes + 2 * BatchMark.FRAME_BYTES, mayUseReserve);
    }
  }

  /**
   * Adds an edit to what the next flush writes.
   *
   * @param mayUseReserve whether the edit frees space, and may use what is held back for such
   * @throws DiskFullException if there is no room for it; nothing was added
   * @throws dev.waymark.error.InvalidArgumentException if it is no edit that a reader would take
   * @throws StoreIoException if the log is poisoned
   */
  public synchronized void append(Edit edit, boolean mayUseReserve) {
    requireSound();
    int length = codec.encode(edit, pending, pendingBytes, fileTag);
    int padded = (int) EditCodec.paddedBytes(length);
    allocateFor((long) pendingBytes + padded + BatchMark.FRAME_BYTES, mayUseReserve);
    pending.setMemory(pendingBytes + length, padded - length, (byte) 0);
    pendingBytes += padded;
    batchEdits++;
    if (pendingBytes - batchStart >= BatchMark.BATCH_BYTES) {
      endBatch();
    }
  }

  /**
   * Writes what was appended. Does nothing where nothing was.
   *
   * @throws StoreIoException if the write fails, or the log is poisoned
   */
  public synchronized void flushBatch() {
    requireSound();
    if (batchEdits > 0) {
      endBatch();
    }
    if (pendingBytes == 0) {
      return;
    }
    try {
      file.write(lengthBytes, pending, 0, pendingBytes);
    } catch (Throwable e) {
      poison = e;
      throw e;
    }
    lengthBytes += pendingBytes;
    pendingBytes = 0;
    batchStart = 0;
    if (pending.capacity() > KEPT_BUFFER_BYTES) {
      pending = new ExpandableArrayBuffer(FIRST_BUFFER_BYTES);
    }
  }

  /**
   * Makes durable what was flushed before the call.
   *
   * @throws StoreIoException if the force fails, or the log is poisoned
   */
  public void force() {
    forcing.lock();
    try {
      long covered;
      synchronized (this) {
        requireSound();
        covered = lengthBytes;
        if (covered == durableLengthBytes) {
          return;
        }
      }
      try {
        file.force();
      } catch (Throwable e) {
        synchronized (this) {
          poison = e;
        }
        throw e;
      }
      synchronized (this) {
        durableLengthBytes = covered;
      }
    } finally {
      forcing.unlock();
    }
  }

  /**
   * Flushes and forces, and then does so with a mark that says it: from then on, damage to any edit
   * is told from a torn tail. For a clean close.
   */
  public void proveDurable() {
    flushBatch();
    force();
    synchronized (this) {
      requireSound();
      allocateFor((long) pendingBytes + 2 * BatchMark.FRAME_BYTES, true);
      if (batchEdits > 0) {
        endBatch();
      }
      endBatch();
      flushBatch();
    }
    force();
  }

  /** What was written so far is the checkpoint. */
  synchronized void endCheckpoint() {
    checkpointBytes = lengthBytes;
  }

  /** Length up to the end of the checkpoint that it begins with. */
  public synchronized long checkpointBytes() {
    return checkpointBytes;
  }

  /** The number in its name. */
  public long manifestId() {
    return manifestId;
  }

  /** Bytes written. */
  public synchronized long lengthBytes() {
    return lengthBytes;
  }

  /** Bytes gathered and not yet written. */
  public synchronized long pendingBytes() {
    return pendingBytes;
  }

  /** Bytes that a force which returned had covered. */
  public synchronized long durableLengthBytes() {
    return durableLengthBytes;
  }

  /** The file's length: what is written and what is allocated ahead. */
  public synchronized long allocatedBytes() {
    return allocatedBytes;
  }

  /** Whether a write or a force failed, so that only a new manifest can go on. */
  public synchronized boolean isPoisoned() {
    return poison != null;
  }

  /** Closes the file; what was not flushed is gone. */
  @Override
  public void close() {
    file.close();
  }

  /** The file, for whoever has to remove it. */
  StoreFile file() {
    return file;
  }

  private void endBatch() {
    new BatchMark(lengthBytes + pendingBytes, durableLengthBytes, batchEdits)
        .encode(pending, pendingBytes, fileTag);
    pendingBytes += BatchMark.FRAME_BYTES;
    batchStart = pendingBytes;
    batchEdits = 0;
  }

  private void allocateFor(long bytes, boolean mayUseReserve) {
    long needed = lengthBytes + bytes;
    long wanted = needed + RESERVE_BYTES;
    if (wanted <= allocatedBytes) {
      return;
    }
    long step =
        Math.min(
            LARGEST_STEP_BYTES, Math.max(SMALLEST_STEP_BYTES, Long.highestOneBit(allocatedBytes)));
    long target = roundUp(wanted, step);
    try {
      allocateTo(target);
    } catch (DiskFullException e) {
      if (!allocateLeast(roundUp(wanted, BLOCK_BYTES), target)
          && !(mayUseReserve && needed <= allocatedBytes)) {
        throw e;
      }
    }
  }

  private boolean allocateLeast(long least, long refused) {
    if (least == refused) {
      return false;
    }
    try {
      allocateTo(least);
      return true;
    } catch (DiskFullException e) {
      return false;
    }
  }

  private void allocateTo(long target) {
    file.allocate(allocatedBytes, target - allocatedBytes);
    allocatedBytes = target;
  }

  private void requireSound() {
    if (poison != null) {
      throw new StoreIoException(
          ErrorDetail.of("a write to the manifest failed before, so it takes no more")
              .at(file.name(), lengthBytes)
              .remedy("a new manifest has to take its place"),
          poison);
    }
  }

  private static long roundUp(long bytes, long step) {
    return (bytes + step - 1) / step * step;
  }
}
