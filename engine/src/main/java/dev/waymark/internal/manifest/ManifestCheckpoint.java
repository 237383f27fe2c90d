package dev.waymark.internal.manifest;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.log.FormatVersions;
import java.util.Iterator;

/**
 * Begins a manifest with the whole state, and puts it in force: the file and its name are durable
 * before CURRENT names it. So whatever CURRENT names has its checkpoint whole, and damage there is
 * never a torn tail.
 */
public final class ManifestCheckpoint {
  private ManifestCheckpoint() {}

  /**
   * Writes a new manifest. The one before stays, and is the caller's to remove.
   *
   * <p>Where it fails before CURRENT was touched, the new file is removed again. Where it fails
   * later nobody knows which manifest a loss of power would leave in force: both stay, and the
   * caller tries again with the next id.
   *
   * @param manifestId larger than that of any manifest in the directory
   * @param state the edits that the state adds up to, in an order that makes sense, without the end
   * @return the log, positioned after the checkpoint, all of it durable
   */
  public static ManifestLog write(
      StoreDirectory directory,
      long manifestId,
      StoreId storeId,
      long createdMillis,
      Iterator<? extends Edit> state,
      NextIds nextIds) {
    ManifestLog log = begin(directory, manifestId, storeId, createdMillis, state, nextIds);
    putInForce(directory, storeId, log);
    return log;
  }

  /**
   * Writes a new manifest, whole and durable, that is not in force. Where it fails, the file is
   * removed again.
   */
  public static ManifestLog begin(
      StoreDirectory directory,
      long manifestId,
      StoreId storeId,
      long createdMillis,
      Iterator<? extends Edit> state,
      NextIds nextIds) {
    ManifestLog log = ManifestLog.create(directory, manifestId, storeId, createdMillis);
    try {
      writeState(log, state, nextIds);
      log.force();
      directory.force();
    } catch (Throwable e) {
      Leftovers.remove(directory, log.file(), e);
      throw e;
    }
    return log;
  }

  /** Makes CURRENT name a manifest. Where it fails the log is closed, and its file stays. */
  public static void putInForce(StoreDirectory directory, StoreId storeId, ManifestLog log) {
    try {
      CurrentFile.write(directory, new Current(storeId, log.manifestId(), FormatVersions.OWN));
    } catch (Throwable e) {
      log.close();
      throw e;
    }
  }

  private static void writeState(ManifestLog log, Iterator<? extends Edit> state, NextIds nextIds) {
    long edits = 0;
    while (state.hasNext()) {
      Edit edit = state.next();
      if (edit instanceof Edit.CheckpointEnd) {
        throw new InvalidArgumentException(
            ErrorDetail.of("a checkpoint's end is among the edits of its state"));
      }
      log.append(edit, false);
      edits++;
      if (log.pendingBytes() >= BatchMark.BATCH_BYTES) {
        log.flushBatch();
      }
    }
    log.append(
        new Edit.CheckpointEnd(
            edits,
            nextIds.segmentId(),
            nextIds.sessionId(),
            nextIds.sequence(),
            nextIds.namespaceId()),
        false);
    log.flushBatch();
    log.endCheckpoint();
  }
}
