package dev.waymark.plant;

import dev.waymark.error.WaymarkException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.ManifestCheckpoint;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.NextIds;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.internal.publish.Publisher;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** What planted mistakes do in place of the right thing. */
public final class Slips {
  private static final ThreadLocal<SegmentSet> UNFORCED = new ThreadLocal<>();

  private Slips() {}

  /** Says at once that it is durable. */
  public static Object durableAtOnce(Publisher publisher, Supplier<?> action) {
    return CompletableFuture.completedFuture(null);
  }

  /** Data waits until the edits were forced. */
  public static void forceLater(SegmentSet segments) {
    UNFORCED.set(segments);
  }

  /** Edits, and only then the data that they name. */
  public static void forceThenData(ManifestLog log) {
    log.force();
    UNFORCED.get().forceDirty();
  }

  /** Tries again what failed, and believes it. */
  public static void forceAgain(StoreFile file) {
    try {
      file.force();
    } catch (WaymarkException e) {
      file.force();
    }
  }

  /** No segment ever failed. */
  public static Set<Long> none(SegmentSet segments) {
    return Set.of();
  }

  /** No segment was created. */
  public static List<SegmentInfo> noneCreated(SegmentSet segments) {
    segments.takeCreated();
    return List.of();
  }

  /** Opens CURRENT itself, to write over it. */
  public static StoreFile openInPlace(StoreDirectory directory, String name) {
    return directory.exists(CurrentFile.NAME)
        ? directory.open(CurrentFile.NAME)
        : directory.create(CurrentFile.NAME);
  }

  /** Deletes the manifest in force, and only then writes its successor. */
  public static ManifestLog afterDeleting(
      StoreDirectory directory,
      long manifestId,
      StoreId storeId,
      long createdMillis,
      Iterator<? extends Edit> state,
      NextIds nextIds) {
    String before = ManifestLog.fileName(manifestId - 1);
    if (directory.exists(before)) {
      directory.delete(before);
      directory.create(before).close();
    }
    return ManifestCheckpoint.write(directory, manifestId, storeId, createdMillis, state, nextIds);
  }

  /** Takes the new manifest away where it is not known whether CURRENT names it. */
  public static void writeOrRemove(StoreDirectory directory, Current current) {
    try {
      CurrentFile.write(directory, current);
    } catch (WaymarkException e) {
      directory.delete(ManifestLog.fileName(current.manifestId()));
      throw e;
    }
  }
}
